//! The header is what cbindgen makes of the crate.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(here.join("src/lib.rs"))
        .generate()
        .expect("a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).expect("text");
    let path = here.join("include/sojourn_queue.h");
    if std::env::var_os("SOJOURN_WRITE_HEADER").is_some() {
        std::fs::write(&path, &text).expect("a folder that can be written to");
    }
    let committed = std::fs::read_to_string(&path).expect("a header");
    assert!(
        committed == text,
        "{} is out of date; `make generate` writes it",
        path.display()
    );
}
