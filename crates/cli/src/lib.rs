//! The sojourn command.
