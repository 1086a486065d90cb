//! Reference pages of what sends: congestion controls, kinds of flow, the parts that these are made of, traffic sources.

use super::markdown::{cell, params_markdown};
use sojourn_cc::media::MEDIA_ALGORITHMS;
use sojourn_scenario::catalogue::{Entry, Family, Part, entries};
use sojourn_scenario::error::LabError;
use sojourn_study::expect::controls::{ControlExpectation, control_expectation};
use sojourn_units::DialectInfo;

/// The pages: file in `docs`, and text in Markdown.
pub(super) fn pages() -> Vec<(String, String)> {
    let all = entries();
    let of = |family| all.iter().filter(move |entry| entry.family == family);
    let mut pages = vec![
        (
            "reference/congestion.md".to_owned(),
            congestion_markdown(of(Family::Congestion)),
        ),
        (
            "reference/flows.md".to_owned(),
            flows_markdown(of(Family::Flow)),
        ),
        (
            "reference/sources.md".to_owned(),
            sources_markdown(of(Family::Source)),
        ),
    ];
    pages.extend(of(Family::Congestion).map(|entry| {
        (
            format!("reference/congestion/{}.md", entry.name),
            control_markdown(entry),
        )
    }));
    pages
}

/// The figures of the pages: file in `docs`, and SVG.
pub(super) fn figures() -> Result<Vec<(String, String)>, LabError> {
    let all = entries();
    let controls = all.iter().filter(|e| e.family == Family::Congestion);
    let figure = |entry: &Entry| {
        let picture = expectation(entry).picture()?;
        let name = format!("images/congestion/{}.svg", entry.name);
        Ok((name, sojourn_report::svg(&picture)))
    };
    controls.map(figure).collect()
}

fn is_media(entry: &Entry) -> bool {
    MEDIA_ALGORITHMS.iter().any(|a| a.name == entry.name)
}

fn expectation(entry: &Entry) -> ControlExpectation {
    control_expectation(entry.name, entry.title, is_media(entry))
}

fn releases(dialects: &[&DialectInfo]) -> String {
    let names: Vec<&str> = dialects.iter().map(|info| info.release).collect();
    names.join(", ")
}

fn congestion_markdown<'a>(controls: impl Iterator<Item = &'a Entry>) -> String {
    let mut page = String::from(
        "# Congestion controls\n\n\
         Each congestion control for transports is also a kind of TCP flow with the same name (`--flow '4*cubic'`), with suitable loss recovery. To combine it with another transport, use `cc=NAME` of `tcp` or `quic`. A congestion control for media is the `control` of [`rtp`](flows.md). `sojourn show NAME` prints the same information, with the parameters of the transport. This page and the pages it links to are generated from the declarations in `crates/cc/src`.\n\n\
         | name | for | dialects | what |\n|---|---|---|---|\n",
    );
    for entry in controls {
        page.push_str(&format!(
            "| [`{}`](congestion/{}.md) | {} | {} | {} |\n",
            entry.name,
            entry.name,
            match is_media(entry) {
                true => "media",
                false => "transports",
            },
            releases(&entry.dialects()),
            cell(&entry.first_sentence())
        ));
    }
    page
}

fn control_markdown(entry: &Entry) -> String {
    let mut page = format!(
        "# {}\n\n`{}`, congestion control for {}{}\n\n{}\n\n![{}](../../images/congestion/{}.svg)\n\n*{}*\n\n",
        entry.title,
        entry.name,
        match is_media(entry) {
            true => "media",
            false => "transports",
        },
        also(entry.aliases),
        entry.about,
        entry.title,
        entry.name,
        expectation(entry).caption,
    );
    for part in &entry.parts {
        page.push_str(&part_markdown(part, "##"));
    }
    page.push_str(&format!(
        "\n## Sources and deviations\n\n{}\n",
        entry.sources
    ));
    page
}

/// Dialects and parameters of a part, below headings of a level.
fn part_markdown(part: &Part, level: &str) -> String {
    let mut text = String::new();
    if !part.dialects.is_empty() {
        text.push_str(&format!("{level} Dialects\n\n"));
        text.push_str(&dialects_markdown(part.dialects));
        text.push_str("\nThe first is the default.\n\n");
    }
    text.push_str(&format!("{level} Parameters\n\n"));
    match part.params {
        [] => text.push_str("None.\n"),
        params => text.push_str(&params_markdown(params)),
    }
    text.push_str(&overrides_markdown(part.dialects));
    text
}

/// A table of dialects.
pub(super) fn dialects_markdown(dialects: &[DialectInfo]) -> String {
    let rows = dialects.iter().map(|info| {
        format!(
            "| `{}` | {} | {} |\n",
            info.name,
            info.release,
            cell(info.doc)
        )
    });
    let head = "| dialect | release | what |\n|---|---|---|\n".to_owned();
    std::iter::once(head).chain(rows).collect()
}

/// A table of the defaults that dialects have otherwise; nothing if there are none.
pub(super) fn overrides_markdown(dialects: &[DialectInfo]) -> String {
    let rows: Vec<String> = dialects
        .iter()
        .flat_map(|info| {
            info.overrides.iter().map(|(name, value, source)| {
                format!(
                    "| `{}` | `{name}` | `{value}` | {} |\n",
                    info.name,
                    cell(source)
                )
            })
        })
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!(
            "\nDialects with other defaults:\n\n| dialect | key | default | source |\n|---|---|---|---|\n{}",
            rows.concat()
        ),
    }
}

fn flows_markdown<'a>(kinds: impl Iterator<Item = &'a Entry>) -> String {
    let mut page = String::from(
        "# Kinds of flow\n\n\
         A flow runs between two endpoints. You declare one as `--flow 'cubic bytes=10MB'`, or as a table `[[flows]]` with `kind`. A flow consists of parts with their own parameters; all of them are keys of the flow's entry. `sojourn show flow:NAME` prints them together. This page is generated from the declarations in the code.\n\n\
         | kind | parts | other keys | description |\n|---|---|---|---|\n",
    );
    let all = entries();
    let mut parts: Vec<(String, Part)> = Vec::new();
    for entry in kinds {
        let mut linked = Vec::new();
        for part in &entry.parts {
            let heading = match part.title {
                // The parameters of each workload are its own.
                "Workload" => format!("Workload {}", entry.name),
                title => title.to_owned(),
            };
            let elsewhere = all.iter().find(|e| has_page_for(e, part));
            linked.push(match elsewhere {
                Some(e) if e.family == Family::Congestion => {
                    format!("[{}](congestion/{}.md)", e.title, e.name)
                }
                Some(e) => format!("[{}](sources.md#{})", e.title, anchor(e.title)),
                None => format!("[{heading}](#{})", anchor(&heading)),
            });
            if elsewhere.is_none() && parts.iter().all(|(known, _)| *known != heading) {
                parts.push((heading, *part));
            }
        }
        let more: Vec<String> = entry
            .more
            .iter()
            .map(|(key, _)| format!("`{key}`"))
            .collect();
        page.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            entry.name,
            linked.join(", "),
            more.join(", "),
            cell(&entry.first_sentence())
        ));
    }
    page.push_str("\nThe other keys:\n\n| key | meaning |\n|---|---|\n");
    let mut said: Vec<&(&str, &str)> = Vec::new();
    for key in all.iter().flat_map(|entry| entry.more) {
        if !said.contains(&key) {
            said.push(key);
            page.push_str(&format!("| `{}` | {} |\n", key.0, cell(key.1)));
        }
    }
    for (heading, part) in &parts {
        page.push_str(&format!("\n## {heading}\n\n{}\n\n", part.doc));
        page.push_str(&part_markdown(part, "###"));
    }
    page
}

/// True if the parameters of a flow's part are those of an entry that is described elsewhere.
fn has_page_for(entry: &Entry, part: &Part) -> bool {
    matches!(entry.family, Family::Congestion | Family::Source) && entry.about == part.doc
}

fn sources_markdown<'a>(sources: impl Iterator<Item = &'a Entry>) -> String {
    let mut page = String::from(
        "# Traffic sources\n\n\
         Each source is also a kind of flow over UDP with the same name (`--flow 'cbr 2Mbps'`). It can also feed a TCP connection (`source=(on_off rate=1Mbps)`) or be the media of [`rtp`](flows.md). `sojourn show source:NAME` prints the same information. This page is generated from the declarations in `crates/traffic/src/sources`.\n\n\
         | name | dialects | what |\n|---|---|---|\n",
    );
    let sources: Vec<&Entry> = sources.collect();
    for entry in &sources {
        page.push_str(&format!(
            "| [`{}`](#{}) | {} | {} |\n",
            entry.name,
            anchor(entry.title),
            releases(&entry.dialects()),
            cell(&entry.first_sentence())
        ));
    }
    for entry in sources {
        page.push_str(&format!(
            "\n## {}\n\n`{}`{}\n\n{}\n\n",
            entry.title,
            entry.name,
            also(entry.aliases),
            entry.about
        ));
        for part in &entry.parts {
            page.push_str(&part_markdown(part, "###"));
        }
    }
    page
}

/// The other names of an entry.
pub(super) fn also(aliases: &[&str]) -> String {
    match aliases {
        [] => String::new(),
        aliases => format!("; also `{}`", aliases.join("`, `")),
    }
}

/// What a link to a heading ends with.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        _ if c.is_alphanumeric() || "-_".contains(c) => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_flow_is_described_on_one_of_the_pages() {
        let pages = pages();
        let text: String = pages.iter().map(|(_, text)| text.as_str()).collect();
        for entry in entries().iter().filter(|e| e.family != Family::Queue) {
            for info in entry.parts.iter().flat_map(|part| part.params) {
                let row = format!("| `{}` | {} |", info.name, cell(&info.kind().unit_text()));
                assert!(text.contains(&row), "{}: {row}", entry.name);
            }
        }
    }

    #[test]
    fn links_within_a_page_lead_to_its_headings() {
        for (file, text) in pages() {
            let headings: Vec<String> = text
                .lines()
                .filter_map(|line| line.strip_prefix("## "))
                .map(anchor)
                .collect();
            for link in text.split("](#").skip(1) {
                let target = link.split(')').next().unwrap_or_default();
                assert!(headings.iter().any(|h| h == target), "{file}: #{target}");
            }
        }
    }
}
