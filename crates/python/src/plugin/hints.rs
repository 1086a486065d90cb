//! What makes a class slow, for `sojourn bench`.

use super::call::tally;
use super::loader::class;
use pyo3::prelude::*;

/// Calls below which nothing is said of what a method answers.
const MANY: u64 = 1000;

/// Sentences on what makes a class slow, after it ran.
pub(crate) fn hints(name: &str) -> Vec<String> {
    let Ok(class) = class(name) else {
        return Vec::new();
    };
    let mut hints = Vec::new();
    for (method, calls, answers) in tally(class.name) {
        let judges = matches!(method, "on_enqueue" | "on_dequeue");
        if judges && calls >= MANY && answers == 0 {
            hints.push(format!(
                "{name}: {method} was called {calls} times and always returned None. If it changes nothing either, leave it out: it is then not called."
            ));
        }
    }
    let unread = Python::attach(|py| {
        let plugin = py.import("sojourn.plugin")?;
        let told = plugin.call_method1("_unread", (class.object(),))?;
        told.extract::<Vec<(String, String)>>()
    });
    for (method, argument) in unread.unwrap_or_default() {
        hints.push(format!(
            "{name}: {method} asks for {argument} and does not read it: leave it out."
        ));
    }
    hints
}
