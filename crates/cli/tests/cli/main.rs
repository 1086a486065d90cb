//! The command from outside: what it prints, writes and refuses.

mod results;
mod support;
mod theory;
