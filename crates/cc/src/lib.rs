//! Congestion control algorithms.
