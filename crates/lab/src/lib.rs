//! Scenario to network to run to result: studies, replications, statistics, result files.
