//! What a terminal shows of an advice.

use crate::terminal;
use sojourn_report::{Grid, GridColumn, shell_word, wrapped};
use sojourn_scenario::LabError;
use sojourn_study::advise::{Advice, Judged, Measured, Plan, Platform, Setting, TIE, Use, lines};
use std::fmt::Write as _;
use std::path::Path;

/// Columns that a text has where there is no terminal.
const WIDTH: usize = 80;
/// A use in which today's setting loses less than this is not worth a sentence.
const SLIGHT: f64 = 1.0;
/// Settings that a sentence lists.
const MOST_LISTED: usize = 6;
/// Down rates from which the CPU of a small router is likely to be the limit, in bits per second.
const FAST_BPS: u64 = 200_000_000;

/// The advice: what is recommended and why, the panel, what today's setting costs, the lines to paste, and the limits.
pub(super) fn text(
    plan: &Plan,
    advice: &Advice,
    written: Option<&Path>,
) -> Result<String, LabError> {
    let mut text = String::new();
    text.push_str(&paragraph(&answer(plan, advice)));
    text.push('\n');
    text.push_str(&panel(plan, advice));
    text.push('\n');
    for sentence in below(plan, advice) {
        text.push_str(&paragraph(&sentence));
    }
    if advice.recommended != advice.today {
        text.push_str(&what_to_do(plan, &plan.panel[advice.recommended])?);
    }
    text.push('\n');
    text.push_str(&paragraph(&limits(plan, advice)));
    if let Some(file) = written {
        let name = file.to_string_lossy();
        let _ = writeln!(text, "To check it: sojourn study {}", shell_word(&name));
    }
    Ok(text)
}

/// The lines to paste for a setting, or what to ask for.
fn what_to_do(plan: &Plan, setting: &Setting) -> Result<String, LabError> {
    // What to ask for is sentences, which may wrap.
    let is_prose = plan.request.platform == Platform::Docsis;
    let heading = match is_prose {
        true => "What to ask for",
        false => "Lines to paste, as root",
    };
    let mut text = format!("\n{heading}: {}\n\n", setting.label);
    for line in lines(plan, setting)? {
        match is_prose {
            true => text.push_str(&paragraph(line.trim_start_matches("# "))),
            false => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    Ok(text)
}

fn width() -> Option<usize> {
    match terminal::is_wide() {
        true => None,
        false => Some(terminal::table_width().unwrap_or(WIDTH)),
    }
}

fn paragraph(text: &str) -> String {
    match width() {
        None => format!("{text}\n"),
        Some(width) => wrapped(text, width).join("\n") + "\n",
    }
}

/// What is recommended and why, in a few sentences.
fn answer(plan: &Plan, advice: &Advice) -> String {
    let chosen = advice.recommended();
    let about = &plan.panel[advice.recommended].about;
    let mut text = match advice.recommended == advice.today {
        true => format!("Leave it as it is: {about}."),
        false => format!("Use {about}."),
    };
    let worst = chosen.worst_use().map_or("", |one| one.of.name());
    let settings = advice.settings.len();
    let _ = match chosen.worst.1 < SLIGHT {
        true => write!(
            text,
            " In every use, it loses less than a point of 100 to the best of {settings} settings."
        ),
        false => write!(
            text,
            " It loses most in {worst}, {:.1} points of 100 to the best of {settings} settings; ",
            chosen.worst.1
        ),
    };
    if chosen.worst.1 >= SLIGHT {
        let best = &advice.settings[advice.best];
        let _ = match advice.best == advice.recommended {
            true => write!(text, "every other one loses more in its worst use."),
            false => write!(
                text,
                "{} loses {:.1} in its worst use, at most {TIE:.0} points less, but it takes more to set up.",
                best.label, best.worst.1
            ),
        };
    }
    let useless: Vec<String> = (chosen.uses.iter().enumerate())
        .filter(|(at, _)| {
            let mut all = advice.settings.iter();
            all.all(|own| own.uses.get(*at).is_some_and(|one| one.points <= 0.0))
        })
        .map(|(_, one)| one.of.name().to_owned())
        .collect();
    if !useless.is_empty() {
        let _ = write!(
            text,
            " No setting gets a point for {}, so that its values have no part in the choice: compare them below.",
            joined(&useless)
        );
    }
    let today = &advice.settings[advice.today];
    if advice.recommended != advice.today {
        let each = today.uses.iter().zip(&chosen.uses);
        let costs: Vec<String> = each.filter_map(|(now, then)| change(now, then)).collect();
        if !costs.is_empty() {
            let _ = write!(
                text,
                " Against today's default ({}), {}.",
                plan.panel[advice.today].about,
                joined(&costs)
            );
        }
    }
    text
}

/// What becomes of a use, from one setting to another; `None` where the difference is slight or may be chance.
fn change(now: &Measured, then: &Measured) -> Option<String> {
    if (now.points - then.points).abs() < SLIGHT || !now.versus?.differs {
        return None;
    }
    let (a, b) = (now.value.as_ref()?.mean, then.value.as_ref()?.mean);
    let (a, b) = (number(a), number(b));
    Some(match now.of {
        Use::Bulk => format!("TCP gets {b} % of the rate instead of {a} %"),
        Use::Web => format!("a page takes {b} s instead of {a} s"),
        Use::Voice => format!("a call has an R factor of {b} instead of {a}"),
        Use::Game => format!("a game waits {b} ms above idle instead of {a} ms (p99)"),
        Use::Video => format!("a video plays {b} Mbps instead of {a} Mbps"),
    })
}

/// A number in three significant digits, without decimals from 100 on.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Parts of a sentence.
fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn panel(plan: &Plan, advice: &Advice) -> String {
    let uses = &plan.request.uses;
    let mut columns = vec![GridColumn::words("Setting")];
    columns.extend(uses.iter().map(|one| {
        let shown = one.shown();
        GridColumn {
            beyond: 1,
            ..GridColumn::numbers(&format!("{} ({})", shown.title, shown.unit))
        }
    }));
    columns.push(GridColumn::numbers("loses most"));
    let row = |(at, own): (usize, &Judged)| {
        let chosen = if at == advice.recommended { "> " } else { "  " };
        let mut cells = vec![format!("{chosen}{}", own.label)];
        cells.extend(own.uses.iter().map(cell));
        let worst = own.worst_use().map_or("", |one| one.of.name());
        cells.push(format!("{worst} {:.0}", own.worst.1));
        cells
    };
    let grid = Grid {
        columns,
        rows: advice.settings.iter().enumerate().map(row).collect(),
        names: 1,
        ruled: true,
    };
    grid.text(width())
}

/// A value with the half width of its interval, and a mark where it differs from the recommended setting.
fn cell(one: &Measured) -> String {
    let mark = match one.versus {
        Some(versus) if versus.differs => "*",
        _ => " ",
    };
    let Some(value) = &one.value else {
        return format!("-{mark}");
    };
    // Page load times are a few seconds; all others are tens or hundreds of their unit.
    let least: usize = match one.of {
        Use::Web | Use::Video => 2,
        Use::Bulk | Use::Voice | Use::Game => 1,
    };
    let half = value.half_width().filter(|half| half.is_finite());
    let text = match half {
        None => format!("{:.least$}", value.mean),
        Some(half) => {
            let decimals = match half {
                half if half >= 9.95 => 0,
                half if half >= 0.995 => 1,
                _ => least,
            };
            format!("{:.decimals$} ± {half:.decimals$}", value.mean)
        }
    };
    format!("{text}{mark}")
}

/// The sentences below the table.
fn below(plan: &Plan, advice: &Advice) -> Vec<String> {
    let chosen = advice.recommended();
    let meanings: Vec<String> = plan
        .request
        .uses
        .iter()
        .map(|one| {
            let shown = one.shown();
            let better = if shown.lower { "lower" } else { "higher" };
            format!("{}: {} ({better} is better)", shown.title, shown.meaning)
        })
        .collect();
    let mut all = vec![
        format!("{}.", meanings.join("; ")),
        format!(
            "Means of {} replications with the same seeds for every setting, ± the 95 % interval. loses most: the use with the most points lost to \
             the best of the panel. *: differs from the recommended setting by more than chance, at 5 % for all {} differences together (Holm).",
            plan.request.replications, advice.tests
        ),
    ];
    let alike: Vec<String> = advice
        .alike
        .iter()
        .map(|at| advice.settings[*at].label.clone())
        .collect();
    all.push(match alike.len() {
        0 => format!(
            "Every other setting is distinguishable from {} in some use.",
            chosen.label
        ),
        many if many <= MOST_LISTED => format!(
            "Not distinguishable from {} in any use: {}.",
            chosen.label,
            joined(&alike)
        ),
        many => format!(
            "Not distinguishable from {} in any use: {} and {} more.",
            chosen.label,
            alike[..MOST_LISTED].join(", "),
            many - MOST_LISTED
        ),
    });
    all
}

/// What the simulation is not.
fn limits(plan: &Plan, advice: &Advice) -> String {
    let link = &plan.request.link;
    let setting = &plan.panel[advice.recommended];
    let mut text = format!(
        "This is a simulation of {} down and {} up with {} at once. Wi-Fi, the CPU of the router and other homes are not in it. The \
         simulated queues of the modem and the operator hold {} packets; --buffer sets this.",
        link.down,
        link.up,
        joined(
            &plan
                .request
                .uses
                .iter()
                .map(|one| one.name().to_owned())
                .collect::<Vec<_>>()
        ),
        link.buffer
    );
    if !plan.request.uses.contains(&Use::Bulk) {
        text.push_str(
            " None of these uses fills the link for long. If somebody also uploads or downloads, add bulk to --use: the advice may change.",
        );
    }
    if setting.marked {
        text.push_str(" It assumes that DSCP marks survive the path.");
    }
    if link.down.as_bps().max(link.up.as_bps()) >= FAST_BPS
        && plan.request.platform != Platform::Docsis
    {
        text.push_str(" At this rate, check that the router's CPU keeps up with a shaper.");
    }
    if link.varying.is_some() && plan.request.platform != Platform::Docsis {
        text.push_str(
            " A fixed shaper cannot follow a rate that varies; tools such as cake-autorate adjust it, and are not simulated.",
        );
    }
    text.push_str(" More: sojourn docs get-advice");
    text
}
