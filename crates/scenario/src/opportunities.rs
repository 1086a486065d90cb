//! Schedules of links that send when they may, in place of a rate: what `[[opportunities]]` says, and the files of packet delivery
//! traces that it names.

use crate::model::OpportunityParams;
use sojourn_sim::{Opportunities, Stream};
use sojourn_units::Span;

/// Opportunities in one schedule.
const MOST: usize = 10_000_000;
/// The longest schedule: 200 hours, as for a run.
const LONGEST_MS: u64 = 200 * 3_600_000;

/// The gaps of a packet delivery trace in the form of Mahimahi (mm-link(1)): a line for each opportunity, its time in whole
/// milliseconds, which begins anew after the last. Says what is wrong in which line.
///
/// # Errors
/// When a line is not a number or comes before the one above, and when there is no time to repeat.
pub fn gaps_of_file(text: &str) -> Result<String, String> {
    let mut gaps = String::new();
    let mut last = 0;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        // Comments are not in the form, but in files that people write by hand.
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let time: u64 = line.parse().map_err(|_| {
            format!("line {number}: {line:?} is not a time in whole milliseconds, such as 42")
        })?;
        let gap = time.checked_sub(last).ok_or_else(|| {
            format!("line {number}: {time} ms is before {last} ms, the line above")
        })?;
        if !gaps.is_empty() {
            gaps.push(',');
        }
        gaps.push_str(&gap.to_string());
        last = time;
    }
    offsets(&gaps)?;
    Ok(gaps)
}

/// A list of gaps in short, for tables of settings.
pub fn extent(gaps: &str) -> Option<String> {
    let offsets = offsets(gaps).ok()?;
    let period = offsets.last()?;
    Some(match offsets.len() {
        1..=20 => gaps.to_owned(),
        number => format!("({number} opportunities in {period})"),
    })
}

/// The times of a list of gaps, in a period that ends with the last.
fn offsets(gaps: &str) -> Result<Vec<Span>, String> {
    let mut offsets = Vec::new();
    let mut ms = 0_u64;
    for text in gaps.split(',').map(str::trim) {
        if text.is_empty() {
            continue;
        }
        let gap: u64 = text
            .parse()
            .map_err(|_| format!("{text:?} is not a whole number of milliseconds"))?;
        ms = ms.saturating_add(gap);
        if ms > LONGEST_MS {
            return Err("a schedule of more than 200 hours".to_owned());
        }
        if offsets.len() == MOST {
            return Err(format!("more than {MOST} opportunities"));
        }
        offsets.push(Span::from_ms(ms));
    }
    match (offsets.is_empty(), ms) {
        (true, _) => Err("there is no opportunity".to_owned()),
        (false, 0) => Err(
            "all opportunities are at 0 ms, so that there is no time after which they repeat"
                .to_owned(),
        ),
        (false, _) => Ok(offsets),
    }
}

/// The schedule that the parameters say; a run begins at a place of it that is drawn from `place`, if that is given.
///
/// # Errors
/// The key that is wrong, and what is.
pub fn schedule(
    params: &OpportunityParams,
    place: Option<&mut Stream>,
) -> Result<Opportunities, (&'static str, String)> {
    let (offsets, period) = match (&params.gaps, params.every) {
        (Some(gaps), _) => {
            let offsets = offsets(gaps).map_err(|problem| ("gaps", problem))?;
            let period = offsets.last().copied().unwrap_or(Span::ZERO);
            (offsets, period)
        }
        (None, Some(every)) => (vec![Span::ZERO], every),
        (None, None) => return Err(("link", "no schedule is given".to_owned())),
    };
    let random = place.map_or(0, |stream| stream.below(period.as_ps()));
    let ahead = params.offset + Span::from_ps(random);
    let bytes = u32::try_from(params.size.get()).map_err(|_| ("size", "too large".to_owned()))?;
    Opportunities::new(offsets, period, bytes, ahead)
        .map_err(|error| ("gaps", format!("{error:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_comes_to_the_gaps_between_its_lines() {
        assert_eq!(gaps_of_file("1\n1\n4\n10\n").as_deref(), Ok("1,0,3,6"));
        assert_eq!(gaps_of_file("# LTE\n0\r\n\n7").as_deref(), Ok("0,7"));
    }

    #[test]
    fn what_is_no_trace_says_the_line() {
        let wrong = |text| gaps_of_file(text).unwrap_err();
        assert!(wrong("1\nx\n").contains("line 2: \"x\""));
        assert!(wrong("1\n2.5\n").contains("line 2: \"2.5\""));
        assert!(wrong("5\n\n4\n").contains("line 3: 4 ms is before 5 ms"));
        assert!(wrong("").contains("no opportunity"));
        assert!(wrong("0\n0\n").contains("repeat"));
        assert!(wrong("999999999999").contains("200 hours"));
        assert!(wrong("99999999999999999999").contains("line 1"));
    }
}
