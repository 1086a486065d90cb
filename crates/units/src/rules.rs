//! Where the dialects of an algorithm differ, as a record: one field for each difference, from which the table in the head of the
//! algorithm's file is made.

/// Declares a record of rules: a field for each row of the table in the head of the file, with its value and its words in
/// every dialect. A dialect that a row leaves out does not compile.
///
/// ```
/// use sojourn_units::{params, rules, rules_table};
///
/// params! {
///     /// A queue.
///     pub struct QueueParams {}
///     dialects Dialect {
///         /// As printed.
///         paper as Paper = "paper-1993" {}
///         /// As in the kernel.
///         linux as Linux = "linux-6.1" {}
///     }
/// }
///
/// rules! {
///     /// Where dialects differ.
///     struct Rules of Dialect {
///         /// A packet as long as the room that is left is taken.
///         takes_the_last: bool, "room for a packet" {
///             Paper = true, "as long as it is";
///             Linux = false, "longer than it is";
///         }
///     }
/// }
///
/// assert!(!Rules::of(Dialect::Linux).takes_the_last);
/// assert_eq!(
///     rules_table(Rules::TABLE),
///     "| | paper | linux |\n|---|---|---|\n| room for a packet | as long as it is | longer than it is |\n"
/// );
/// ```
#[macro_export]
macro_rules! rules {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $Rules:ident of $Dialect:ident {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $ty:ty, $row:literal {
                    $($Variant:ident = $value:expr, $text:literal;)+
                }
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        $vis struct $Rules {
            $(
                $(#[doc = $field_doc])+
                $field: $ty,
            )+
        }

        impl $Rules {
            /// The rules of a dialect.
            #[inline(always)]
            $vis const fn of(dialect: $Dialect) -> $Rules {
                $Rules {
                    $($field: match dialect {
                        $($Dialect::$Variant => $value,)+
                    },)+
                }
            }

            /// The rows: what each is about, and its words by dialect.
            #[allow(dead_code, reason = "for the table, which tests compare with the head of the file")]
            $vis const TABLE: &'static [$crate::RulesRow] = &[
                $(($row, &[$(($Dialect::$Variant.name(), $text)),+]),)+
            ];
        }
    };
}

/// A row of a table of rules: what it is about, and its words by the name of the dialect.
pub type RulesRow = (&'static str, &'static [(&'static str, &'static str)]);

/// The table in Markdown, a line for each row; the columns are in the order of the first row.
///
/// # Panics
/// If a row lacks a dialect of the first one.
pub fn rules_table(rows: &[RulesRow]) -> String {
    let columns: Vec<&str> = match rows.first() {
        Some((_, words)) => words.iter().map(|(dialect, _)| *dialect).collect(),
        None => return String::new(),
    };
    let mut table = format!("| | {} |\n|---|", columns.join(" | "));
    table += &"---|".repeat(columns.len());
    table.push('\n');
    for (title, words) in rows {
        let of = |column: &&str| {
            let found = words.iter().find(|(dialect, _)| dialect == column);
            found.expect("a row has every dialect").1
        };
        let words: Vec<&str> = columns.iter().map(of).collect();
        table += &format!("| {title} | {} |\n", words.join(" | "));
    }
    table
}

/// Compares the table in the head of a source file, the first one there, with the rules.
///
/// # Errors
/// The table as it has to be, if another one stands there.
pub fn check_rules_table(file: &'static str, rows: &[RulesRow]) -> Result<(), String> {
    let wanted: Vec<String> = rules_table(rows)
        .lines()
        .map(|line| format!("//! {line}"))
        .collect();
    let head = crate::head_of(file);
    let lines = head.lines().skip_while(|line| !line.starts_with("//! |"));
    let given: Vec<&str> = lines.take_while(|line| line.starts_with("//! |")).collect();
    match given == wanted {
        true => Ok(()),
        false => Err(format!(
            "the table in the head of the file is not that of the rules; it has to be\n{}",
            wanted.join("\n")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[RulesRow] = &[
        ("drops", &[("a", "the head"), ("b", "the tail")]),
        ("counts", &[("b", "bytes"), ("a", "packets")]),
    ];

    #[test]
    fn columns_are_in_the_order_of_the_first_row() {
        let table = "| | a | b |\n|---|---|---|\n| drops | the head | the tail |\n| counts | packets | bytes |\n";
        assert_eq!(rules_table(ROWS), table);
    }

    #[test]
    fn another_table_in_the_head_is_found() {
        let right = "//! A.\n//!\n//! | | a | b |\n//! |---|---|---|\n//! | drops | the head | the tail |\n\
                     //! | counts | packets | bytes |\n//!\n//! More.\n\nfn f() {}\n";
        assert_eq!(check_rules_table(right, ROWS), Ok(()));
        let error = check_rules_table("//! A.\n\nfn f() {}\n", ROWS).unwrap_err();
        assert!(
            error.ends_with("//! | counts | packets | bytes |"),
            "{error}"
        );
    }
}
