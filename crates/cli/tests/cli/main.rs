//! The command from outside: what it prints, writes and refuses.

mod bad_input;
mod commands;
mod results;
mod support;
mod theory;
mod traces;
mod vectors;
