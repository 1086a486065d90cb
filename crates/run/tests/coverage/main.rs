//! How often the 95 % intervals of `sojourn_results::stats` hold the truth, in experiments whose truth is known.
//!
//! `make coverage` runs the long form, which writes docs/reference/coverage.md; the short form is a test like others.

mod comparisons;
mod queues;
mod series;
mod simulator;
mod synthetic;
mod table;

use self::table::{Row, Table};

/// What takes microseconds or milliseconds.
fn quick(seed: u64, table: &mut Table) {
    series::ar_1(seed, table);
    series::on_off(seed, table);
    for room in [10, 30, 50] {
        queues::m_m_1_k(seed, room, table);
    }
    synthetic::shares(seed, table);
    for correlation in [0.0, 0.5, 0.9] {
        comparisons::pairs(seed, correlation, false, table);
        comparisons::pairs(seed, correlation, true, table);
    }
    comparisons::families(seed, table);
    comparisons::margins(seed, table);
    comparisons::steady(seed, table);
}

/// The rows of all seeds, to which `each` adds those of one. Each of two threads has every other seed, so that the rows add up the same way each time.
fn table(experiments: u64, each: &(dyn Fn(u64, &mut Table) + Sync)) -> Table {
    let part = |first: u64| {
        let mut table = Table::default();
        (first..experiments)
            .step_by(2)
            .for_each(|seed| each(seed, &mut table));
        table
    };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| part(1));
        let mut table = part(0);
        table.merge(&second.join().expect("no panic"));
        table
    })
}

/// Whether a row is expected to cover: not where runs begin empty and nothing is cut, nor where the mark says "too few".
fn has_to_cover(row: &Row) -> bool {
    let starts_empty = row.rule == "none" && matches!(row.section, "Means" | "Percentiles");
    !starts_empty && 2 * row.few.made <= row.after.made
}

#[test]
fn intervals_of_300_experiments_cover_the_truth_in_90_percent() {
    let table = table(300, &|seed, table| {
        quick(seed, table);
        queues::m_d_1(seed, 0.7, table);
        queues::stopped(seed, 5, table);
    });
    let mut rows = table.rows.iter().filter(|row| has_to_cover(row)).peekable();
    assert!(rows.peek().is_some());
    for row in rows {
        let coverage = row.after.coverage().expect("intervals");
        assert!(
            coverage >= 90.0,
            "{}, n = {}, {}: {coverage} %",
            row.what,
            row.n,
            row.rule
        );
    }
}

#[test]
#[ignore = "takes minutes: make coverage"]
fn the_table_of_coverage_is_written() {
    let experiments = match std::env::var("SOJOURN_EXPERIMENTS") {
        Ok(count) => count.parse().expect("SOJOURN_EXPERIMENTS: a count"),
        Err(_) => 1000,
    };
    let population = simulator::Population::new(400);
    let all = table(experiments, &|seed, table| {
        quick(seed, table);
        population.draw(seed, table);
        for load in [0.7, 0.9, 0.95] {
            queues::m_m_1(seed, load, table);
        }
        queues::m_d_1(seed, 0.9, table);
        // What takes longest, in a quarter and a half of the experiments, evenly over the threads.
        if seed % 8 < 2 {
            queues::long_m_m_1(seed, table);
        }
        if seed % 4 < 2 {
            simulator::m_m_1(seed, table);
        }
        for first in [3, 5, 10] {
            queues::stopped(seed, first, table);
        }
    });
    let page = INTRODUCTION.replace("EXPERIMENTS", &experiments.to_string()) + &all.markdown();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/coverage.md"
    );
    std::fs::write(file, page).expect(file);
}

const INTRODUCTION: &str = "\
# Coverage of the intervals

A 95 % interval has to hold the truth in 95 % of experiments. Each row below is EXPERIMENTS experiments (runs of 300 s: a quarter, runs in the simulator: half of them) whose truth is known: from theory, or as the mean of the population that replications are drawn from. The target is 93 to 97 %; by chance a row is off by 0.7 points (one standard error of 1,000 experiments). `make coverage` writes this page; `make test` runs a short form and fails below 90 %.

The columns:

- **rules**: `none` keeps the whole run, which begins empty or far from its mean. `warm-up` leaves out what MSER-5 finds in the mean series of the first three replications, at least a twelfth of the run (5 s of 60 s). `both` also adds replications until the interval is narrow enough. `Holm` adjusts ten comparisons.
- **n**: replications.
- **before**: Student's interval of the replications' values (of a percentile: of the replications' percentiles; of a difference: of the pairs).
- **now**: the interval that tables show.
- **width**: mean width now, over the mean width before.
- **too few**: percent of experiments whose percentile or loss rests on too few values, by the rule of `sojourn_results::stats`.

Rows outside the target, and why:

- `none` in series that begin empty or far away: the start is what biases them, and the warm-up rule removes it.
- The mean of M/M/1 at load 0.95 with runs of 60 s: the queue forgets its state in about 1.2 s, so a run holds few independent values, and its mean is skewed. Longer runs come closer (the rows of 300 s have a standard error of 1.4 points).
- The 99th percentile at loads 0.9 and 0.95, and the 95th at 0.95, in 60 s: a few busy periods have most of the values beyond it. The mark \"too few\" says so, in up to 99 % of the experiments; with 10 replications of the 95th percentile it is seldom, and the interval covers in 91.6 %.
- The median of M/M/1 at load 0.7: the interval is as wide as a step of the histogram, which is wider than the error.
- Values on a lattice (\"in steps of\"), as sojourn times of equal packets are: the percentile is one of few values. The interval reaches the neighbours that the share of values below leaves open, so it covers in 94 to 98 %, and a median that is no close call in 100 %.
- Loss in M/M/1/50: fewer than one loss in a run. The interval is wide, and is marked. With 3 replications, all intervals of losses cover in more than 97 %.
- Shares that are skewed towards 1, with 5 and 10 replications: 92 to 93 %, from 88 to 90 % before.
- A precision that is checked from 3 replications on: the interval stops when it is narrow by chance. From 5 on it covers, and so no run stops before 5.
- Verdicts (no false claim, not called equivalent, halves not called different): their target is at least 95 %, and 99 % for halves.
";
