use serde_json::json;

use super::*;

fn summary(tables: &serde_json::Value) -> Summary {
    serde_json::from_value(json!({
        "schema_version": 1,
        "title": "Two queues",
        "command": "sojourn study two.toml",
        "version": "0.1.0",
        "blocks": tables,
    }))
    .unwrap()
}

fn two_queues() -> Summary {
    summary(&json!([{
        "type": "table",
        "id": "delay-5",
        "title": "Delay & loss",
        "columns": [
            {"key": "rate", "title": "Rate", "unit": "Mbps", "align": "right"},
            {"key": "queue", "title": "Queue"},
            {"key": "sojourn_ms_p99", "title": "Sojourn time, p99", "unit": "ms"},
            {"key": "loss_percent", "title": "Loss", "unit": "%"},
            {"key": "state", "title": "State"},
        ],
        "rows": [
            ["2.5", "DropTail", {"value": 279.3, "half_width": 13.7, "n": 3},
             {"value": 0.65, "half_width": 0.36, "n": 3, "note": "cut_short"}, "50 % full"],
            ["2.5", "CoDel", {"value": 20.54, "half_width": 1.27, "n": 3},
             {"value": -1.5e-13, "half_width": 2.5e-14, "n": 3}, "[none]"],
            ["10", "CoDel", null, {"value": 0.0, "n": 3}, null],
        ],
        "footnotes": ["Means over 3 replications; ± is the half width of the *95 %* interval."],
    }]))
}

#[test]
fn a_table_is_a_tabular_whose_numbers_stand_in_columns_of_siunitx() {
    let latex = latex(&two_queues(), "");
    let [(id, text)] = latex.tables.as_slice() else {
        panic!("one table");
    };
    assert_eq!(id, "delay-5");
    let expected = r"\begingroup
\sisetup{separate-uncertainty, table-align-uncertainty, retain-zero-uncertainty}%
\begin{tabular}{
  S[table-format=2.1]
  l
  S[table-format=3.2(4)]
  S[table-format=1.3(4), table-space-text-post=\textsuperscript{a}]
  l
}
\toprule
{Rate} & {Queue} & {\shortstack{Sojourn time,\\p99}} & {Loss} & {State} \\
{(\unit{Mbps})} &  & {(\unit{ms})} & {(\unit{\percent})} &  \\
\midrule
2.5 & DropTail & 279 \pm 14 & 0.65 \pm 0.36\textsuperscript{a} & 50 \% full \\
2.5 & CoDel & 20.5 \pm 1.3 & {\num{-1.50 \pm 0.25e-13}} & {[}none{]} \\
10 & CoDel & {--} & 0 & {--} \\
\bottomrule
\end{tabular}
\par\smallskip
{\footnotesize\raggedright
\textsuperscript{a}cut\_short.
Means over 3 replications; $\pm$ is the half width of the 95 \% interval.
\par}
\endgroup
";
    let (comments, rest) = text.split_at(text.find("\\begingroup").unwrap());
    assert!(
        comments.starts_with("% Delay & loss\n% About ")
            && comments.contains("\n% Needs \\usepackage{booktabs,siunitx}"),
        "{comments}"
    );
    assert_eq!(rest, expected);
}

#[test]
fn each_cell_has_a_macro_named_by_table_row_and_column() {
    let latex = latex(&two_queues(), "");
    let macros: Vec<&str> = latex
        .numbers
        .lines()
        .filter(|line| line.starts_with("\\newcommand"))
        .collect();
    assert_eq!(
        macros,
        [
            r"\newcommand*{\DelayFiveTwoPointFiveDropTailSojournMsPNinetyNine}{\SojournCell{279}{14}{}{ms}}",
            r"\newcommand*{\DelayFiveTwoPointFiveDropTailLossPercent}{\SojournCell{0.65}{0.36}{}{\percent}}",
            r"\newcommand*{\DelayFiveTwoPointFiveDropTailState}{50 \% full}",
            r"\newcommand*{\DelayFiveTwoPointFiveCoDelSojournMsPNinetyNine}{\SojournCell{20.5}{1.3}{}{ms}}",
            r"\newcommand*{\DelayFiveTwoPointFiveCoDelLossPercent}{\SojournCell{-1.50}{0.25}{e-13}{\percent}}",
            r"\newcommand*{\DelayFiveTwoPointFiveCoDelState}{{[}none{]}}",
            r"\newcommand*{\DelayFiveTenCoDelSojournMsPNinetyNine}{--}",
            r"\newcommand*{\DelayFiveTenCoDelLossPercent}{\SojournCell{0}{}{}{\percent}}",
            r"\newcommand*{\DelayFiveTenCoDelState}{--}",
        ]
    );
    let with_prefix = super::latex(&two_queues(), "runB2").numbers;
    assert!(with_prefix.contains("\\RunBTwoDelayFiveTenCoDelState}"));
}

#[test]
fn a_lopsided_interval_has_its_ends_and_a_difference_beyond_chance_a_star() {
    let table = summary(&json!([{
        "type": "table",
        "id": "t",
        "title": "",
        "columns": [{"key": "queue", "title": "Queue"}, {"key": "share", "title": "Share", "unit": "%"}],
        "rows": [
            ["a", {"value": 97.5, "half_width": 4.0, "low": 91.2, "high": 99.2, "n": 3}],
            ["b", {"value": 90.0, "half_width": 1.0, "n": 3, "differs": true}],
        ],
    }]));
    let latex = latex(&table, "");
    let (_, text) = &latex.tables[0];
    assert!(
        text.contains(r"a & {\num{97.5} [\num{91.2}, \num{99.2}]} \\"),
        "{text}"
    );
    assert!(
        text.contains(r"b & 90.0 \pm 1.0\textsuperscript{*} \\"),
        "{text}"
    );
    let macros = r"\newcommand*{\TAShare}{\SojournEnds{97.5}{91.2}{99.2}{\percent}}";
    assert!(latex.numbers.contains(macros), "{}", latex.numbers);
}

#[test]
fn cells_of_one_name_have_macros_of_different_names() {
    let twice = summary(&json!([{
        "type": "table",
        "id": "t",
        "title": "",
        "columns": [{"key": "q", "title": "q"}, {"key": "v", "title": "v"}],
        "rows": [["a-b", 1], ["a b", 2], ["a_b", 3]],
    }]));
    let numbers = latex(&twice, "").numbers;
    for (name, value) in [("TABV", 1), ("TABVNoTwo", 2), ("TABVNoThree", 3)] {
        let line = format!("\\newcommand*{{\\{name}}}{{\\SojournCell{{{value}}}{{}}{{}}{{}}}}\n");
        assert!(numbers.contains(&line), "{line}: {numbers}");
    }
}

#[test]
fn a_name_has_letters_only_whatever_the_text() {
    let cases = [
        ("fq_codel", "FqCodel"),
        ("DropTail − CoDel", "DropTailMinusCoDel"),
        ("5-1-1", "FiveOneOne"),
        ("p99.9", "PNinetyNinePointNine"),
        ("-3 dB", "MinusThreeDB"),
        ("0.05", "ZeroPointZeroFive"),
        ("100", "OneZeroZero"),
        ("21", "TwentyOne"),
        ("007", "ZeroZeroSeven"),
        ("50 %", "FiftyPercent"),
        ("µs ± 1", "MicrosPlusMinusOne"),
        ("ü", "UAAPM"),
        ("\\input{x}", "InputX"),
    ];
    for (text, name) in cases {
        assert_eq!(letters([text].into_iter()), name, "{text}");
    }
}

#[test]
fn no_text_of_a_user_means_anything_to_latex() {
    let given = "a&b%c_d#e\\f{g}h~i^j$k--l<m>\"n\" − ± µs … ü 中\n";
    assert_eq!(
        escaped(given),
        "a\\&b\\%c\\_d\\#e\\textbackslash{}f\\{g\\}h\\textasciitilde{}i\\textasciicircum{}j\\$k-{}-l\\textless{}m\\textgreater{}\
         \\char34{}n\\char34{} $-$ $\\pm$ \\textmu{}s \\dots{} ü \\ifdefined\\Umathchar 中\\else[U+4E2D]\\fi{} "
    );
    assert_eq!(comment("a\nb\r% c"), "a b % c");
}

#[test]
fn units_are_those_of_siunitx_or_text() {
    for (given, set) in [
        ("ms", "ms"),
        ("%", "\\percent"),
        ("packets/s", "packets/s"),
        ("µs", "\\micro\\second"),
        ("a_b", "\\text{a\\_b}"),
    ] {
        assert_eq!(unit(given), set);
    }
}
