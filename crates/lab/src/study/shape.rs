//! What a study adds to the schema of a scenario file.

use serde_json::{Value, json};
use sojourn_units::Params;

use super::{ExperimentParams, FactorParams, FigureParams, StudyParams, TableParams};
use crate::schema::Section;

/// The tables that a study has beside those of a scenario.
pub fn sections() -> Vec<Section> {
    let factor = Section {
        key: "factor",
        doc: FactorParams::DOC,
        several: true,
        params: FactorParams::TABLE,
        required: &["name", "values"],
        keys: vec![
            (
                "values",
                json!({
                    "type": "array",
                    "minItems": 1,
                    "description": "Its levels: values for path, or tables with label and set.",
                }),
            ),
            ("labels", texts("What tables call the levels, one for each.")),
        ],
        sections: Vec::new(),
    };
    vec![
        Section {
            key: "study",
            doc: StudyParams::DOC,
            several: false,
            params: StudyParams::TABLE,
            required: &[],
            keys: Vec::new(),
            sections: Vec::new(),
        },
        Section {
            key: "experiment",
            doc: ExperimentParams::DOC,
            several: true,
            params: ExperimentParams::TABLE,
            required: &["name"],
            keys: vec![("set", levels("Paths of the scenario and the values that they get."))],
            sections: vec![factor],
        },
        Section {
            key: "table",
            doc: TableParams::DOC,
            several: true,
            params: TableParams::TABLE,
            required: &["id", "metrics"],
            keys: vec![
                ("rows", texts("Factors down the side.")),
                ("columns", texts("Factors across.")),
                ("metrics", texts("What is shown, such as sojourn_s_p95 or goodput_bps_sum of reno.")),
                ("where", levels("Factors and the level that is shown.")),
            ],
            sections: Vec::new(),
        },
        Section {
            key: "figure",
            doc: FigureParams::DOC,
            several: true,
            params: FigureParams::TABLE,
            required: &["id"],
            keys: vec![("where", levels("Factors and the level that is shown."))],
            sections: Vec::new(),
        },
    ]
}

fn texts(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": doc })
}

fn levels(doc: &str) -> Value {
    json!({ "type": "object", "description": doc })
}
