//! The simulator as a WebAssembly module, for the page in `web/`.
//!
//! A call is a JSON object with the name of an operation, and gets a JSON object back; [`Module::call`] has the list. The many numbers
//! of rows and packets lie beside the answer as 64-bit floats. What goes over the border of the module is in `exports.rs`.
//!
//! The page is a front end to the file format. It keeps the scenario as a document, which this module reads from TOML, writes to TOML, checks
//! and runs; menus and sliders follow from the operation `catalogue`, which is made of the declarations of all parameters.

mod calls;
mod digest;
pub mod exports;

pub use calls::Module;
pub use digest::digest;
