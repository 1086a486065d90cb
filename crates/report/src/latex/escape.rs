//! Text of users as LaTeX shows it.

/// The text with everything replaced that means something to LaTeX, or that its fonts lack.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match command(c) {
            // Two would be a dash.
            None if c == '-' && chars.peek() == Some(&'-') => out.push_str("-{}"),
            Some(command) => out.push_str(command),
            None if c.is_whitespace() || c.is_control() => out.push(' '),
            None if c.is_ascii() || is_latin(c) => out.push(c),
            // Engines with Unicode fonts show it; pdfTeX would stop, so that it shows the number.
            None => out.push_str(&format!(
                "\\ifdefined\\Umathchar {c}\\else[U+{:04X}]\\fi{{}}",
                u32::from(c)
            )),
        }
    }
    out
}

/// The text in a comment: one line.
pub(super) fn comment(text: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(line).collect()
}

/// Letters that the fonts of pdfTeX have in its usual encodings.
fn is_latin(c: char) -> bool {
    ('\u{c0}'..='\u{17e}').contains(&c) && c.is_alphabetic()
}

/// How LaTeX writes a character that it would not show as it is.
fn command(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "\\&",
        '%' => "\\%",
        '$' => "\\$",
        '#' => "\\#",
        '_' => "\\_",
        '{' => "\\{",
        '}' => "\\}",
        '\\' => "\\textbackslash{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '"' => "\\char34{}",
        '\'' => "\\char39{}",
        '`' => "\\char96{}",
        // In front of a row they would belong to the end of the one above.
        '[' => "{[}",
        ']' => "{]}",
        '*' => "{*}",
        '\u{a0}' => "~",
        '\u{2009}' | '\u{202f}' => "\\,",
        '−' => "$-$",
        '±' => "$\\pm$",
        '×' => "$\\times$",
        '·' => "$\\cdot$",
        '≤' => "$\\leq$",
        '≥' => "$\\geq$",
        '≠' => "$\\neq$",
        '≈' => "$\\approx$",
        '∞' => "$\\infty$",
        '→' => "$\\rightarrow$",
        '←' => "$\\leftarrow$",
        '√' => "$\\surd$",
        '²' => "\\textsuperscript{2}",
        '³' => "\\textsuperscript{3}",
        '½' => "$\\frac12$",
        '°' => "\\textdegree{}",
        'µ' | 'μ' => "\\textmu{}",
        'α' => "$\\alpha$",
        'β' => "$\\beta$",
        'γ' => "$\\gamma$",
        'δ' => "$\\delta$",
        'Δ' => "$\\Delta$",
        'λ' => "$\\lambda$",
        'ρ' => "$\\rho$",
        'σ' => "$\\sigma$",
        'τ' => "$\\tau$",
        '…' => "\\dots{}",
        '–' => "--{}",
        '—' => "---{}",
        '‘' => "`{}",
        '’' => "'{}",
        '“' => "``{}",
        '”' => "''{}",
        '«' => "$\\ll$",
        '»' => "$\\gg$",
        '€' => "\\texteuro{}",
        '§' => "\\S{}",
        _ => return None,
    })
}
