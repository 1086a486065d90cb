//! How the reader wants to be written to: width, colour, pager, how much is said.

use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prose is not set wider than this, however wide the terminal is.
const PROSE: usize = 100;

/// The width of prose that goes to a file or a pipe.
const PIPED: usize = 80;

/// Options that every command has.
#[derive(Args, Debug, Default)]
pub(crate) struct TerminalArgs {
    /// When to use colour: auto, always or never. NO_COLOR and CLICOLOR_FORCE are respected.
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        hide_possible_values = true,
        default_value = "auto",
        global = true,
        help_heading = "Output options"
    )]
    pub(crate) color: When,
    /// Print tables as wide as they are, with all digits, instead of fitting them to the terminal.
    #[arg(long, global = true, help_heading = "Output options")]
    pub(crate) wide: bool,
    /// Do not use a pager. Without this, long text on a terminal goes through SOJOURN_PAGER, PAGER or less.
    #[arg(long, global = true, help_heading = "Output options")]
    pub(crate) no_pager: bool,
    /// Print results, warnings and errors only: no progress, no notes.
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "verbose",
        help_heading = "Output options"
    )]
    pub(crate) quiet: bool,
    /// Say more, such as how long the runs took.
    #[arg(long, short, global = true, help_heading = "Output options")]
    pub(crate) verbose: bool,
}

/// When to use colour.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum When {
    /// On a terminal.
    #[default]
    Auto,
    /// Always, in files and pipes too.
    Always,
    /// Never.
    Never,
}

impl When {
    fn choice(self) -> anstream::ColorChoice {
        match self {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        }
    }
}

static WIDE: AtomicBool = AtomicBool::new(false);
static NO_PAGER: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Takes over what the arguments ask for, for the rest of the command.
pub(crate) fn set(args: &TerminalArgs) {
    args.color.choice().write_global();
    WIDE.store(args.wide, Ordering::Relaxed);
    NO_PAGER.store(args.no_pager, Ordering::Relaxed);
    QUIET.store(args.quiet, Ordering::Relaxed);
    VERBOSE.store(args.verbose, Ordering::Relaxed);
}

/// Whether tables are printed as wide as they are, with all digits.
pub(crate) fn is_wide() -> bool {
    WIDE.load(Ordering::Relaxed)
}

/// Whether the reader wants no progress and no notes.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether the reader wants to know more.
pub(crate) fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Whether a long text may go through a pager.
pub(crate) fn may_page() -> bool {
    !NO_PAGER.load(Ordering::Relaxed) && std::io::stdout().is_terminal()
}

/// Terminal columns that a table may have: those of COLUMNS, or of the terminal. What goes to a file or a pipe has no limit, so that it
/// is the same whatever the size of the window.
pub(crate) fn table_width() -> Option<usize> {
    if is_wide() {
        return None;
    }
    columns().or_else(|| {
        let stdout = std::io::stdout();
        let on_terminal = stdout.is_terminal();
        on_terminal.then(|| size().map_or(PIPED, |(width, _)| width))
    })
}

/// Terminal columns that a text of sentences has.
pub(crate) fn prose_width() -> usize {
    table_width().unwrap_or(PIPED).clamp(20, PROSE)
}

/// Rows of the terminal.
pub(crate) fn height() -> Option<usize> {
    size().map(|(_, height)| height)
}

fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.trim().parse().ok()?;
    (columns > 0).then_some(columns)
}

fn size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some((usize::from(width.0), usize::from(height.0)))
}
