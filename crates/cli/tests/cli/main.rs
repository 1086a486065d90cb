//! The command from outside: what it prints, writes and refuses.

mod advise;
mod audit;
mod bad_input;
mod board;
mod commands;
mod dialects_and_maps;
mod draw;
#[cfg(unix)]
mod interrupts;
mod limits;
mod mistakes;
mod overwrite;
mod paper;
mod play;
mod results;
mod suite;
mod support;
mod terminal;
mod theory;
mod traces;
mod vectors;
mod worst;
