//! Environments against runs: what an agent does in steps is what a policy does in a run, to the bit.

use sojourn_cc::CongestionControl;
use sojourn_gym::{
    AQM, AqmInterval, AqmReward, Batch, CONTROL, ControlForm, ControlInterval, ControlReward,
    Fleet, Policy, Task, provide,
};
use sojourn_run::run::{Stepper, run_resolved};
use sojourn_scenario::Resolved;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_units::Span;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn resolved(text: &str) -> Resolved {
    provide(AQM).unwrap();
    provide(CONTROL).unwrap();
    let document = Document::parse(text, "lab.toml").unwrap();
    let scenario = Scenario::from_document(&document).unwrap();
    scenario
        .resolve()
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn aqm_scenario(queue: &str, duration: &str) -> Resolved {
    resolved(&format!(
        "flows = [\"2*cubic\", \"cbr 1Mbps\"]\n[topology]\nrate = \"10Mbps\"\nrtt = \"30ms\"\nqueue = \"{queue}\"\nreverse_queue = \"droptail\"\n\
         [[changes]]\nat = \"400ms\"\nlink = \"left-right\"\nrate = \"5Mbps\"\n[run]\nduration = \"{duration}\"\nwarmup = \"0s\"\nstart_spread = \"100ms\"\n"
    ))
}

fn control_scenario(flow: &str, duration: &str) -> Resolved {
    resolved(&format!(
        "flows = [\"{flow}\", \"poisson 1Mbps\"]\n[topology]\nrate = \"10Mbps\"\nrtt = \"30ms\"\nqueue = \"droptail limit=50p\"\n\
         [run]\nduration = \"{duration}\"\nwarmup = \"0s\"\nstart_spread = \"100ms\"\n"
    ))
}

/// A policy of one layer in a file of its own.
fn policy(directory: &Path, component: &str, weights: &[f64], bias: f64) -> (Policy, PathBuf) {
    let text = format!(
        "{{\"format\": \"sojourn-policy-1\", \"component\": \"{component}\", \
         \"layers\": [{{\"weights\": [{weights:?}], \"bias\": [{bias}], \"activation\": \"tanh\"}}]}}"
    );
    let path = directory.join("policy.json");
    std::fs::write(&path, &text).unwrap();
    (Policy::from_json(&text).unwrap(), path)
}

#[test]
fn a_policy_drives_a_queue_in_a_run_as_it_does_in_steps() {
    let directory = tempfile::tempdir().unwrap();
    let weights = [0.3, 0.5, 0.1, 0.2, 0.0, -0.4, 0.0, 0.8];
    let (policy, path) = policy(directory.path(), AQM, &weights, -0.6);
    for act in ["probability", "delay"] {
        let queue = format!("gym:aqm act={act} interval=5ms");
        let mut stepper = Stepper::new(Arc::new(aqm_scenario(&queue, "6s")), 2).unwrap();
        let link = stepper.bottleneck().unwrap();
        let interval = Span::from_ms(5);
        let mut actions = Vec::new();
        while stepper.now() < stepper.end() {
            stepper.advance(stepper.now() + interval).unwrap();
            let mut state = Vec::new();
            stepper.queue(link).state(&mut state);
            let seen = AqmInterval::of_state(&state).unwrap();
            let action = policy.act(&seen.observation(interval));
            actions.push(action);
            stepper.queue(link).steer(&[action]);
        }
        actions.sort_by(f64::total_cmp);
        assert!(actions[10] < actions[actions.len() - 10] - 0.1, "it acts");
        let alone = aqm_scenario(&format!("{queue} policy={}", path.display()), "6s");
        let outcome = stepper.finish().unwrap();
        assert!(outcome.census.dropped > 10, "{act}");
        assert!(outcome == run_resolved(&alone, 2).unwrap(), "{act}");
    }
}

#[test]
fn a_policy_drives_a_flow_in_a_run_as_it_does_in_steps() {
    let directory = tempfile::tempdir().unwrap();
    let weights = [-1.5, -0.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let (policy, path) = policy(directory.path(), CONTROL, &weights, 0.5);
    let interval = Span::from_ms(30);
    for act in ["window", "rate"] {
        let flow = format!("gym:control act={act} interval=30ms");
        let mut stepper = Stepper::new(Arc::new(control_scenario(&flow, "6s")), 1).unwrap();
        let mut windows = Vec::new();
        while stepper.now() < stepper.end() {
            stepper.advance(stepper.now() + interval).unwrap();
            let now = stepper.now();
            let cc = stepper.sender(0).control_mut().unwrap();
            cc.steer(now, &[]);
            let seen = ControlInterval::of(cc).unwrap();
            if seen.is_established() {
                cc.steer(now, &[policy.act(&seen.observation(interval))]);
                windows.push(cc.cwnd());
            }
        }
        windows.sort_unstable();
        assert!(windows[windows.len() / 2] > 20_000, "{windows:?}");
        let alone = control_scenario(&format!("{flow} policy={}", path.display()), "6s");
        let alone = run_resolved(&alone, 1).unwrap();
        let outcome = stepper.finish().unwrap();
        assert!(outcome.census.delivered > 2000, "{act}");
        assert!(outcome == alone, "{act}");
    }
}

fn tasks() -> [(Task, Resolved); 2] {
    [
        (
            Task::Aqm(AqmReward::default()),
            aqm_scenario("gym:aqm", "500ms"),
        ),
        (
            Task::Control(ControlReward::new(ControlForm::Power)),
            control_scenario("gym:control", "2s"),
        ),
    ]
}

/// What `number` environments of these seeds give over some steps with an action of each that changes.
fn played(task: Task, scenario: &Resolved, seeds: &[u64], threads: usize) -> Vec<Batch> {
    let mut fleet = Fleet::new(task, vec![scenario.clone()], seeds.len(), threads).unwrap();
    let some: Vec<Option<u64>> = seeds.iter().copied().map(Some).collect();
    let mut batches = vec![fleet.reset(&some).unwrap().clone()];
    for step in 0..120_u8 {
        let action = |seed: &u64| {
            let seed = u8::try_from(*seed).unwrap();
            f32::from(step.wrapping_mul(37).wrapping_add(seed) % 16) / 8.0 - 1.0
        };
        let actions: Vec<f32> = seeds.iter().map(action).collect();
        batches.push(fleet.step(&actions).unwrap().clone());
    }
    batches
}

#[test]
fn environments_are_the_same_alone_together_and_on_threads() {
    for (task, scenario) in tasks() {
        let together = played(task, &scenario, &[3, 4, 5], 1);
        assert_eq!(together, played(task, &scenario, &[3, 4, 5], 3));
        assert_eq!(together, played(task, &scenario, &[3, 4, 5], 1), "again");
        let width = task.observation_names().len();
        for (seed, number) in [3, 4, 5].into_iter().zip(0..) {
            for (all, one) in together.iter().zip(played(task, &scenario, &[seed], 1)) {
                let own = number * width..(number + 1) * width;
                assert_eq!(all.observations[own], one.observations);
                assert_eq!(all.rewards[number], one.rewards[0]);
                assert_eq!(all.truncated[number], one.truncated[0]);
            }
        }
    }
}

#[test]
fn an_episode_ends_with_the_run_and_the_next_one_is_the_next_replication() {
    let (task, scenario) = tasks().into_iter().next().unwrap();
    let batches = played(task, &scenario, &[7], 1);
    // 50 intervals; the first one passes before the first observation.
    let ends: Vec<usize> = (0..batches.len())
        .filter(|step| batches[*step].truncated == [1])
        .collect();
    assert_eq!(ends, [49, 99]);
    assert_eq!(batches[50].rewards, [0.0]);
    let mut fleet = Fleet::new(task, vec![scenario], 1, 1).unwrap();
    fleet.reset(&[Some(7)]).unwrap();
    assert_eq!(*fleet.reset(&[None]).unwrap(), batches[50]);
}

#[test]
fn what_no_agent_can_drive_is_refused_with_what_to_write() {
    let aqm = Task::Aqm(AqmReward::default());
    let control = Task::Control(ControlReward::new(ControlForm::Linear));
    let refused = |task: Task, scenario: Resolved| {
        let mut fleet = Fleet::new(task, vec![scenario], 1, 1).unwrap();
        fleet.reset(&[None]).unwrap_err().to_string()
    };
    let error = refused(aqm, aqm_scenario("codel", "1s"));
    assert!(
        error.contains("no queue is gym:aqm") && error.contains("topology.queue"),
        "{error}"
    );
    let error = refused(control, control_scenario("2*gym:control", "1s"));
    assert!(error.contains("2 flows are gym:control"), "{error}");
    let error = refused(aqm, aqm_scenario("gym:aqm interval=10s", "9s"));
    assert!(
        error.contains("ends before the first step of 10s"),
        "{error}"
    );
}

#[test]
fn a_policy_of_another_component_is_refused_where_it_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let (_, path) = policy(directory.path(), CONTROL, &[0.0; 10], 0.0);
    let refused = |given: &str| {
        let text = format!("flows = [\"cubic\"]\n[topology]\nqueue = \"gym:aqm policy={given}\"\n");
        provide(AQM).unwrap();
        let error = Scenario::from_document(&Document::parse(&text, "lab.toml").unwrap())
            .and_then(|scenario| scenario.resolve())
            .unwrap_err();
        error.to_string()
    };
    let error = refused(path.to_str().unwrap());
    assert!(error.contains("made for gym:control"), "{error}");
    let error = refused("absent.json");
    assert!(error.contains("absent.json cannot be read"), "{error}");
}
