//! What holds for every congestion control over a path.

use sojourn_cc::ALGORITHMS;
use sojourn_run::properties::{
    NEED_NOT_ANSWER, NEED_NOT_SHARE, answers_losses, answers_marks, every_byte_arrives,
    fills_a_path, shares_with_itself,
};

#[test]
fn every_algorithm_fills_a_path_without_loss_or_marks() {
    for algorithm in ALGORITHMS {
        let marks = ["dctcp", "prague"].contains(&algorithm.name);
        fills_a_path(algorithm.name, marks.then_some(20));
    }
}

#[test]
fn every_byte_arrives_once_whatever_the_network_does() {
    for (algorithm, seed) in ALGORITHMS.iter().zip(1..) {
        every_byte_arrives(algorithm.name, seed);
    }
}

#[test]
fn every_algorithm_shares_a_path_with_itself() {
    for algorithm in ALGORITHMS {
        if !NEED_NOT_SHARE
            .iter()
            .any(|(name, _)| *name == algorithm.name)
        {
            shares_with_itself(algorithm.name);
        }
    }
}

#[test]
fn what_follows_losses_answers_them() {
    for algorithm in ALGORITHMS {
        if !NEED_NOT_ANSWER
            .iter()
            .any(|(name, _)| *name == algorithm.name)
        {
            answers_losses(algorithm.name);
        }
    }
}

#[test]
fn what_follows_marks_answers_them() {
    for algorithm in ALGORITHMS {
        answers_marks(algorithm.name);
    }
}
