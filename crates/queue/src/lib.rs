//! Queue disciplines and the port around them.
