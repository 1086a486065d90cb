//! A family of things that have names, and one of them.

use serde_json::{Map, Value, json};
use sojourn_scenario::LabError;
use sojourn_scenario::catalogue::{Part, part_to_json};

/// A family of things that scenarios, studies or commands can name.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The word of `sojourn list`: `metrics`.
    pub name: &'static str,
    /// What one of it is called: `metric`.
    pub one: &'static str,
    /// What they are, in a few words without a full stop.
    pub about: &'static str,
    /// The facts that a list shows, each a column.
    pub columns: &'static [&'static str],
    pub(super) items: fn() -> Vec<Item>,
    /// Adds to an item what is too slow to find out for a list.
    pub(super) complete: Option<fn(Item) -> Result<Item, LabError>>,
}

impl Family {
    /// Every item, in the order of its declaration.
    pub fn items(&self) -> Vec<Item> {
        (self.items)()
    }

    /// The item with everything that there is to say of it.
    ///
    /// # Errors
    /// When its file cannot be read: in a study of the user.
    pub fn in_full(&self, item: Item) -> Result<Item, LabError> {
        match self.complete {
            Some(complete) => complete(item),
            None => Ok(item),
        }
    }

    /// The names of the columns of a list.
    pub fn header(&self) -> Vec<&'static str> {
        let mut header = vec!["name"];
        header.extend(self.columns);
        header.push("what");
        header
    }

    /// The cells of an item under [`Family::header`]. The longest comes last.
    pub fn row(&self, item: &Item) -> Vec<String> {
        let mut row = vec![item.name.clone()];
        row.extend(self.columns.iter().map(|column| item.fact(column)));
        row.push(item.first_sentence());
        row
    }

    /// Whether it is called so: `metrics` or `metric`.
    pub(super) fn is_called(&self, name: &str) -> bool {
        name == self.name || name == self.one || self.one.split(' ').next() == Some(name)
    }
}

/// One thing that has a name.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// What it is: [`Family::one`].
    pub family: &'static str,
    /// Its name in files and commands.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Its name as papers and tables write it.
    pub title: String,
    /// What it is and does, in Markdown.
    pub about: String,
    /// What else there is to know, by name: unit, level, runs.
    pub facts: Vec<(&'static str, String)>,
    /// What takes parameters.
    pub parts: Vec<Part>,
    /// Sources, revisions and deviations, in Markdown.
    pub sources: String,
    /// Keys or names beside the parameters, and their meaning.
    pub more: Vec<(String, String)>,
    /// How to write it: lines of a file, or commands.
    pub usage: Vec<String>,
}

impl Item {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name)
            .chain(&self.aliases)
            .map(String::as_str)
    }

    /// Whether that is its name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// One of its facts; empty where it has none of that name.
    pub fn fact(&self, name: &str) -> String {
        match name {
            "aliases" => self.aliases.join(", "),
            "dialects" => self.dialects().join(", "),
            "title" => self.title.clone(),
            _ => {
                let found = self.facts.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.clone()).unwrap_or_default()
            }
        }
    }

    /// The names of its dialects, the default one first.
    pub fn dialects(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for dialect in self.parts.iter().flat_map(|part| part.dialects) {
            if !names.contains(&dialect.name) {
                names.push(dialect.name);
            }
        }
        names
    }

    /// The first sentence of what it is.
    pub fn first_sentence(&self) -> String {
        let paragraph = self.about.split("\n\n").next().unwrap_or_default();
        let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = text.find(". ").map_or(text.len(), |end| end + 1);
        text[..end].to_owned()
    }

    /// The item as JSON: what `sojourn show NAME --format json` prints.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.replace(' ', "_"), value);
        put("family", json!(self.family));
        put("name", json!(self.name));
        put("aliases", json!(self.aliases));
        put("title", json!(self.title));
        put("about", json!(self.about));
        for (name, value) in &self.facts {
            // Numbers are numbers to a program.
            put(
                name,
                value
                    .parse::<u64>()
                    .map_or_else(|_| json!(value), |number| json!(number)),
            );
        }
        put("sources", json!(self.sources));
        let parts: Vec<Value> = self.parts.iter().map(part_to_json).collect();
        put("parts", json!(parts));
        put("more", json!(self.more));
        put("usage", json!(self.usage));
        Value::Object(object)
    }
}
