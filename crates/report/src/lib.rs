//! Figures and the HTML report, from result files only.
