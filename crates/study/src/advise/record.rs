//! The advice as JSON.

use serde_json::{Value, json};
use sojourn_results::manifest::VERSION;
use sojourn_scenario::error::Result;

use super::judge::{Advice, Measured, TIE};
use super::lines::lines;
use super::plan::Plan;

/// Name of the form.
const SCHEMA_NAME: &str = "urn:sojourn:schema:advice:1";

/// The advice with everything that it rests on. Values are in the unit that stands with them, rates in bits per second, times in seconds.
///
/// # Errors
/// As [`lines`].
pub fn json(plan: &Plan, advice: &Advice) -> Result<String> {
    let request = &plan.request;
    let link = &request.link;
    let mut panel = Vec::new();
    for (setting, judged) in plan.panel.iter().zip(&advice.settings) {
        panel.push(json!({
            "setting": judged.label,
            "about": setting.about,
            "queue_down": setting.down,
            "queue_up": setting.up,
            "marked": setting.marked,
            "effort": setting.effort,
            "worst_use": judged.uses.get(judged.worst.0).map(|one| one.of.name()),
            "points_lost": judged.worst.1,
            "uses": judged.uses.iter().map(of_use).collect::<Vec<_>>(),
            "lines": lines(plan, setting)?,
        }));
    }
    let label = |at: usize| advice.settings.get(at).map(|own| own.label.clone());
    let alike = advice.alike.iter();
    let document = json!({
        "schema": SCHEMA_NAME,
        "sojourn": VERSION,
        "command": request.command,
        "platform": request.platform.name(),
        "rate_down_bps": link.down.as_bps(),
        "rate_up_bps": link.up.as_bps(),
        "rtt_s": link.rtt.as_secs_f64(),
        "varies": link.varying.is_some(),
        "uses": request.uses.iter().map(|one| one.name()).collect::<Vec<_>>(),
        "replications": request.replications,
        "seed": request.seed,
        "quick": request.quick,
        "measured_s": plan.measured().as_secs_f64(),
        "tie_points": TIE,
        "tests": advice.tests,
        "recommended": label(advice.recommended),
        "least_loss": label(advice.best),
        "today": label(advice.today),
        "not_distinguishable": alike.filter_map(|at| label(*at)).collect::<Vec<_>>(),
        "panel": panel,
    });
    Ok(format!("{document:#}\n"))
}

fn of_use(one: &Measured) -> Value {
    let interval = one.value.as_ref().and_then(|value| value.interval);
    let shown = one.of.shown();
    json!({
        "use": one.of.name(),
        "meaning": shown.meaning,
        "unit": shown.unit,
        "value": one.value.as_ref().map(|value| value.mean),
        "low": interval.map(|interval| interval.low),
        "high": interval.map(|interval| interval.high),
        "samples": one.samples,
        "points": one.points,
        "points_lost": one.lost,
        "versus_recommended": one.versus.map(|versus| json!({
            "difference": versus.difference,
            "low": versus.interval.map(|ends| ends.0),
            "high": versus.interval.map(|ends| ends.1),
            "test": if versus.paired { "paired" } else { "welch" },
            "p_holm": versus.p_holm,
            "differs": versus.differs,
        })),
    })
}
