//! Names of macros: letters only.

/// Numbers up to twenty, in words.
const SMALL: [&str; 20] = [
    "Zero",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
    "Thirteen",
    "Fourteen",
    "Fifteen",
    "Sixteen",
    "Seventeen",
    "Eighteen",
    "Nineteen",
];
const TENS: [&str; 8] = [
    "Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety",
];

/// The parts as one name: each word begins with a capital and keeps its other letters (`p99_ms` is `PNinetyNineMs`). Numbers below a
/// hundred are words, longer ones digit by digit; `2.5` is `TwoPointFive`, `−` and a hyphen before a number are `Minus`. Other signs
/// separate words.
pub(super) fn letters<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.map(words).collect()
}

fn words(text: &str) -> String {
    let mut out = String::new();
    let mut begins = true;
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            match before {
                '.' => digit_by_digit(number, &mut out),
                _ => spelled(number, &mut out),
            }
            before = '0';
            begins = true;
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let number_follows = rest.starts_with(|c: char| c.is_ascii_digit());
        let word = match c {
            '.' if before == '0' && number_follows => "Point",
            '-' if number_follows && !before.is_alphanumeric() => "Minus",
            '−' => "Minus",
            '±' => "PlusMinus",
            '+' => "Plus",
            '%' => "Percent",
            '&' => "And",
            '<' => "Below",
            '>' => "Above",
            '*' | '×' => "Times",
            'µ' | 'μ' => "Micro",
            _ => "",
        };
        if c.is_ascii_alphabetic() {
            out.push(if begins { c.to_ascii_uppercase() } else { c });
        } else if word.is_empty() && c.is_alphanumeric() {
            // No letter of LaTeX: its number, 0 to 15 as A to P.
            out.push('U');
            out.extend(format!("{:04x}", u32::from(c)).bytes().map(as_letter));
        } else {
            out.push_str(word);
        }
        begins = !c.is_alphanumeric();
        before = match (c, word) {
            ('.', "Point") => '.',
            (c, _) => {
                if c == '.' {
                    ' '
                } else {
                    c
                }
            }
        };
    }
    out
}

fn as_letter(hexadecimal: u8) -> char {
    let value = char::from(hexadecimal).to_digit(16).unwrap_or(0);
    char::from_u32(u32::from('A') + value).unwrap_or('A')
}

fn spelled(number: &str, out: &mut String) {
    let small = number.parse::<usize>().ok();
    match small.filter(|_| number.len() <= 2 && (number == "0" || !number.starts_with('0'))) {
        Some(value @ 0..20) => out.push_str(SMALL[value]),
        Some(value) => {
            out.push_str(TENS[value / 10 - 2]);
            if value % 10 > 0 {
                out.push_str(SMALL[value % 10]);
            }
        }
        None => digit_by_digit(number, out),
    }
}

fn digit_by_digit(number: &str, out: &mut String) {
    for digit in number.bytes() {
        out.push_str(SMALL[usize::from(digit - b'0') % 10]);
    }
}
