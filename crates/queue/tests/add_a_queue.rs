//! docs/how-to/add-a-queue.md, followed to the letter in a copy of the crates.

#[path = "../../../tests/support/recipe.rs"]
mod recipe;

use recipe::Recipe;
use std::io;

#[test]
fn a_new_discipline_is_one_file_and_one_line() -> io::Result<()> {
    let directories = ["crates/units", "crates/sim", "crates/queue"];
    let recipe = Recipe::begin("add-a-queue", &directories)?;
    recipe.write_file("crates/queue/src/disciplines/aqms/delay_step.rs")?;
    recipe.add_line(
        "crates/queue/src/disciplines/aqms.rs",
        "list! {\n",
        "    delay_step::DelayStep,\n",
    )?;
    // The variant, which the page adds in the same way.
    recipe.write_file("crates/queue/src/disciplines/aqms/sparing_codel.rs")?;
    recipe.replace(
        "crates/queue/src/disciplines/aqms.rs",
        "list! {\n",
        "list! {\n    sparing_codel::SparingCodel,\n",
    )?;

    // Its own test, and those of the catalogue, which fail on an entry that they cannot run.
    let output = recipe.cargo_test("sojourn-queue", &["--lib", "disciplines::aqms::delay_step"]);
    assert!(
        output.contains("packets_are_marked_above_the_threshold_and_not_at_it ... ok"),
        "{output}"
    );
    let output = recipe.cargo_test(
        "sojourn-queue",
        &["--test", "catalogue", "--", "--nocapture"],
    );
    assert!(
        output.contains("test result: ok") && output.contains("lazy_links_equal_eager_ones ... ok"),
        "{output}"
    );
    for entry in ["delay_step dialect=rfc8257", "sparing_codel dialect=linux"] {
        assert!(
            output.contains(entry),
            "the catalogue does not list {entry}: {output}"
        );
    }
    Ok(())
}
