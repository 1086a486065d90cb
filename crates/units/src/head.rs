//! The head of a source file: where an algorithm says which sources it follows and where it leaves them. Reference pages show it.

/// The lines at the head of a file that begin with `//!`.
pub const fn head_of(file: &'static str) -> &'static str {
    let bytes = file.as_bytes();
    let mut end = 0;
    while end + 2 < bytes.len()
        && bytes[end] == b'/'
        && bytes[end + 1] == b'/'
        && bytes[end + 2] == b'!'
    {
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        end += 1;
    }
    file.split_at(end).0
}

/// The first `N` bytes of a file.
///
/// # Panics
/// If the file is shorter.
pub const fn start_of<const N: usize>(file: &str) -> [u8; N] {
    let mut start = [0; N];
    start.copy_from_slice(file.as_bytes().split_at(N).0);
    start
}

/// [`head_of`] a file that is a constant, as a text of its own: a part of `include_str!` would keep the whole file in the program.
#[macro_export]
macro_rules! head_text {
    ($file:expr) => {{
        const FILE: &str = $file;
        const LENGTH: usize = $crate::head_of(FILE).len();
        const HEAD: &[u8; LENGTH] = &$crate::start_of::<LENGTH>(FILE);
        const TEXT: &str = match ::core::str::from_utf8(HEAD) {
            Ok(text) => text,
            Err(_) => panic!("a head ends within a character"),
        };
        TEXT
    }};
}

/// What the first line of a head calls the thing, up to the colon.
pub fn head_title(head: &'static str) -> &'static str {
    let line = head.lines().next().unwrap_or(head);
    let line = line.strip_prefix("//! ").unwrap_or(line);
    line.split_once(": ").map_or(line, |(title, _)| title)
}

/// The text of a head without its title, each paragraph and each item on one line, and without what only links in the code.
pub fn head_markdown(head: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for line in head.lines().skip(1) {
        let line = line.strip_prefix("//!").unwrap_or(line).trim();
        let begins = ["* ", "- ", "|"].iter().any(|mark| line.starts_with(mark));
        match blocks.last_mut() {
            _ if line.is_empty() => {
                if open {
                    blocks.push(String::new());
                }
                open = false;
            }
            Some(block) if open && !begins => {
                block.push(' ');
                block.push_str(line);
            }
            _ => {
                blocks.push(line.to_owned());
                open = true;
            }
        }
    }
    plain_links(blocks.join("\n").trim())
}

/// A text whose links into the code are only what they show: `` [`drr`](super::drr) `` and `` [`super::drr`] `` become `` `drr` ``.
fn plain_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("[`") {
        plain.push_str(before);
        let Some((shown, after)) = behind.split_once("`]") else {
            plain.push_str("[`");
            rest = behind;
            continue;
        };
        let name = shown.rsplit("::").next().unwrap_or(shown);
        plain.push_str(&format!("`{name}`"));
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! DRR++: what it is.\n//!\n//! One paragraph\n//! in two lines, see [`drr`](super::drr).\n//!\n//! - an item\n//!   that goes on\n//! - another\n\nuse std::fmt;\n";

    #[test]
    fn a_head_ends_with_the_first_line_that_is_none() {
        let head = head_of(FILE);
        assert!(head.ends_with("//! - another\n"), "{head}");
        assert_eq!(head_of("use std::fmt;\n"), "");
        assert_eq!(head_title(head_of(FILE)), "DRR++");
    }

    #[test]
    fn paragraphs_and_items_are_one_line_each_and_links_are_what_they_show() {
        let text = head_markdown(head_of(FILE));
        assert_eq!(
            text,
            "One paragraph in two lines, see `drr`.\n\n- an item that goes on\n- another"
        );
    }
}
