//! Ctrl-C and SIGTERM end the command within a second, the first time.
//!
//! Runs look at a flag and end, and the command says what is kept. Whatever does not come to an end in time, such as a file that
//! blocks, is cut off: result files are written under temporary names and renamed, so that none is left in part.

use sojourn_scenario::LabError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// How long the command may take to end by itself.
const GRACE: Duration = Duration::from_millis(700);

/// Exit status after Ctrl-C, as shells have it: 128 and the number of SIGINT.
const INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);
static STATUS: AtomicU8 = AtomicU8::new(INTERRUPTED);

/// What is being written.
struct Writing {
    /// A file that is of no use in part.
    partial: Option<PathBuf>,
    /// The directory in which finished runs are kept.
    results: Option<PathBuf>,
}

static WRITING: Mutex<Writing> = Mutex::new(Writing {
    partial: None,
    results: None,
});

fn writing() -> MutexGuard<'static, Writing> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has an interrupt remove this file if it cuts the command off, until [`keep`].
pub(crate) fn remove(path: &Path) {
    writing().partial = Some(path.to_owned());
}

/// The file is whole, or gone.
pub(crate) fn keep() {
    writing().partial = None;
}

/// Finished runs are kept in this directory from now on.
pub(crate) fn keeps_in(directory: Option<&Path>) {
    writing().results = directory.map(Path::to_owned);
}

/// The flag that an interrupt raises.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether a pager has the terminal: an interrupt is then the pager's to answer.
static PAGER: AtomicBool = AtomicBool::new(false);

/// From now on, or no longer, a pager has the terminal.
pub(crate) fn leave_to_pager(leave: bool) {
    PAGER.store(leave, Ordering::Relaxed);
}

/// The exit status after an interrupt: 130 after Ctrl-C, 143 after SIGTERM.
pub(crate) fn status() -> u8 {
    STATUS.load(Ordering::Relaxed)
}

/// Begins to listen for interrupts. A system that does not let us has its own way to end a process.
pub(crate) fn listen() {
    static LISTEN: Once = Once::new();
    STOP.store(false, Ordering::Relaxed);
    keeps_in(None);
    LISTEN.call_once(|| {
        if let Err(error) = register() {
            eprintln!("sojourn: note: cannot listen for interrupts: {error}");
        }
    });
}

#[cfg(unix)]
fn register() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                let number = u8::try_from(signal).unwrap_or_default();
                interrupt(128_u8.saturating_add(number));
            }
        })
        .map(drop)
}

#[cfg(not(unix))]
fn register() -> std::io::Result<()> {
    ctrlc::set_handler(|| interrupt(INTERRUPTED)).map_err(std::io::Error::other)
}

fn interrupt(status: u8) {
    if status == INTERRUPTED && PAGER.load(Ordering::Relaxed) {
        return;
    }
    if STOP.swap(true, Ordering::Relaxed) {
        cut_off();
    }
    STATUS.store(status, Ordering::Relaxed);
    let watch = || {
        std::thread::sleep(GRACE);
        cut_off();
    };
    if std::thread::Builder::new().spawn(watch).is_err() {
        cut_off();
    }
}

/// Ends the process.
fn cut_off() -> ! {
    let writing = writing();
    let left = writing.partial.as_ref().and_then(|path| {
        let removed = std::fs::remove_file(path);
        removed
            .err()
            .map(|error| format!("; {} is left: {error}", path.display()))
    });
    let kept = match &writing.results {
        Some(path) => format!(
            "finished runs are kept in {}; repeat the command to continue",
            path.display()
        ),
        None => "nothing is kept".to_owned(),
    };
    eprintln!("sojourn: interrupted; {kept}{}", left.unwrap_or_default());
    std::process::exit(i32::from(status()));
}

/// The exit status of a command that ends with an error.
pub(crate) fn status_of(error: &LabError) -> u8 {
    match error.kind() {
        sojourn_scenario::LabErrorKind::Interrupted => status(),
        _ => error.exit_status(),
    }
}
