//! `sojourn docs`: the documentation, in the terminal.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{Text, cut};
use crate::page::{Link, rendered, resolve, words};
use crate::{terminal, topics};
use clap::Args;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Read the documentation: tutorial, how-tos, reference, and what the auditor's warnings mean.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn docs                  list the topics
  sojourn docs tutorial         start here
  sojourn docs compare-queues   a how-to
  sojourn docs codel            the reference of a queue or congestion control
  sojourn docs phase-locked    what a warning of the auditor means")]
pub(crate) struct DocsArgs {
    /// The topic, such as tutorial; the list of all unless given.
    pub(crate) topic: Option<String>,
}

impl Execute for DocsArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        match self.topic.as_deref() {
            None | Some("index") => list(terminal::table_width()).page(),
            Some(topic) => {
                let topic = topics::find(topic)?;
                rendered(&topic.text, topic.place, terminal::prose_width()).page()
            }
        }
    }
}

/// A topic, and a line about it.
struct Line {
    topic: String,
    about: String,
}

/// The topics of the index, a line each, in its groups.
fn list(width: Option<usize>) -> Text {
    let groups = groups();
    let all = groups.iter().flat_map(|(_, lines)| lines);
    let longest = all
        .map(|line| line.topic.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = Text::default();
    for (heading, lines) in &groups {
        text = text.heading(heading).plain("\n");
        for Line { topic, about } in lines {
            let about = match width {
                Some(width) => cut(about, width.saturating_sub(longest + 4).max(20)),
                None => about.clone(),
            };
            let gap = " ".repeat(longest - topic.chars().count() + 2);
            text = text
                .plain("  ")
                .code(topic)
                .plain(format!("{gap}{about}").trim_end())
                .plain("\n");
        }
        text = text.plain("\n");
    }
    text.plain(
        "sojourn docs TOPIC prints a page. Each queue and congestion control has one,\n\
         such as codel, and each rule of the auditor, such as phase-locked.\n",
    )
}

/// The groups of the index: heading, and topics in the order of its links.
fn groups() -> Vec<(String, Vec<Line>)> {
    let index = topics::PAGES
        .iter()
        .find(|(place, _)| *place == topics::INDEX);
    let index = index.map_or("", |(_, text)| text);
    let mut groups: Vec<(String, Vec<Line>)> = Vec::new();
    let mut text = String::new();
    let mut links: Vec<String> = Vec::new();
    for event in Parser::new(index) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Item) => text.clear(),
            Event::End(TagEnd::Heading(_)) => groups.push((std::mem::take(&mut text), Vec::new())),
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Link::Topic(topic) = resolve(topics::INDEX, &dest_url) {
                    links.push(topic);
                }
            }
            Event::Text(part) => text.push_str(&part),
            Event::Code(code) => text.push_str(&code),
            Event::SoftBreak => text.push(' '),
            Event::End(TagEnd::Item) => {
                let is_alone = links.len() == 1;
                let lines = links.drain(..).map(|topic| {
                    let about = match is_alone {
                        true => text.clone(),
                        false => title(&topic),
                    };
                    Line { topic, about }
                });
                let lines: Vec<Line> = lines.collect();
                if let Some((_, group)) = groups.last_mut() {
                    group.extend(lines);
                }
            }
            _ => {}
        }
    }
    groups.retain(|(_, lines)| !lines.is_empty());
    groups
}

fn title(topic: &str) -> String {
    topics::find(topic).map_or_else(
        |_| String::new(),
        |found| words(topics::title_of(&found.text)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::in_repository;
    use crate::topics::{INDEX, PAGES, find, name_of, names};
    use std::path::Path;

    #[test]
    fn every_page_is_reachable_by_its_topic_and_no_two_share_one() {
        for (place, text) in PAGES {
            let topic = find(name_of(place)).expect("a topic");
            assert_eq!(topic.place, *place);
            assert_eq!(topic.text, *text);
            assert_eq!(find(place).expect("a path").place, *place);
        }
        let mut names = names();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_page_of_the_first_levels_is_in_the_list() {
        let groups = groups();
        let listed: Vec<&str> = groups
            .iter()
            .flat_map(|(_, lines)| lines.iter().map(|line| line.topic.as_str()))
            .collect();
        for (place, _) in PAGES {
            // An algorithm's page is behind the list of its kind.
            let is_algorithm = place.matches('/').count() > 1;
            if *place != INDEX && !is_algorithm {
                assert!(
                    listed.contains(&name_of(place)),
                    "docs/index.md does not link {place}"
                );
            }
        }
    }

    #[test]
    fn no_link_of_a_page_is_broken() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (place, text) in PAGES {
            for event in Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES) {
                let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
                else {
                    continue;
                };
                let path = dest_url.split('#').next().unwrap_or_default();
                if path.is_empty() || dest_url.contains("://") {
                    continue;
                }
                let file = in_repository(place, path);
                assert!(root.join(&file).exists(), "docs/{place} links {dest_url}");
            }
        }
    }

    #[test]
    fn no_mark_of_markdown_and_no_long_line_is_left_in_a_page() {
        for (place, text) in PAGES {
            let page = rendered(text, place, 80).unstyled();
            let mut prose = page.lines().filter(|line| !line.starts_with("  "));
            assert!(
                prose.clone().all(|line| line.chars().count() <= 80),
                "{place}"
            );
            assert!(
                prose.all(|line| !line.contains("](")
                    && !line.starts_with('|')
                    && !line.starts_with("```")),
                "{place}"
            );
        }
    }

    #[test]
    fn what_has_no_page_is_answered_with_show() {
        for (given, expected) in [
            (
                "rrul",
                "there is no page \"rrul\": it is a study; print it with: sojourn show rrul",
            ),
            (
                "sojourn_s_p95",
                "there is no page \"sojourn_s_p95\": it is a metric; print it with: sojourn show sojourn_s_p95",
            ),
        ] {
            let error = find(given).err().expect("no such page");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn the_nearest_topic_is_named() {
        let error = find("phase-loked").err().expect("no such page").to_string();
        assert!(error.contains("phase-locked"), "{error}");
    }

    #[test]
    fn a_word_without_a_page_names_the_pages_that_have_it() {
        let error = find("sawtooth").err().expect("no such page").to_string();
        assert!(error.contains("pages that have the word: "), "{error}");
        let error = find("qwertz").err().expect("no such page").to_string();
        assert!(error.contains("`sojourn docs` lists the topics"), "{error}");
    }
}
