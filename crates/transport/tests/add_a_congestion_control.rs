//! docs/how-to/add-a-congestion-control.md, followed to the letter in a copy of the crates.

#[path = "../../../tests/support/recipe.rs"]
mod recipe;

use recipe::Recipe;
use std::io;

#[test]
fn a_new_congestion_control_is_one_file_and_two_lines() -> io::Result<()> {
    let directories = [
        "crates/units",
        "crates/sim",
        "crates/cc",
        "crates/transport",
        "tests/data",
    ];
    let recipe = Recipe::begin("add-a-congestion-control", &directories)?;
    recipe.write_file("crates/cc/src/gaimd.rs")?;
    recipe.add_line("crates/cc/src/lib.rs", "mod delays;\n", "pub mod gaimd;\n")?;
    recipe.add_line(
        "crates/cc/src/registry.rs",
        "    reno [\"newreno\"] = Reno(RenoParams);\n",
        "    gaimd = Gaimd(GaimdParams);\n",
    )?;

    // Its own test, and those of the registry.
    let output = recipe.cargo_test("sojourn-cc", &["--lib", "gaimd"]);
    for test in [
        "gaimd::tests::the_window_grows_by_the_increase_per_round_trip_and_keeps_the_decrease",
        "declared::gaimd",
    ] {
        assert!(output.contains(&format!("{test} ... ok")), "{output}");
    }
    recipe.cargo_test("sojourn-cc", &["--lib", "registry"]);
    // A test of every algorithm over a transport; a copy that lacks it would run none.
    let name = "every_algorithm_fills_a_path_without_loss_or_marks";
    let output = recipe.cargo_test("sojourn-transport", &["--lib", name]);
    assert!(output.contains(&format!("{name} ... ok")), "{output}");
    Ok(())
}
