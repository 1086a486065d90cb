//! Typed time, rate, size and limit, parsed from text with units and printed; declared parameters.
