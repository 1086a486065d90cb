//! Environments, each a run in steps; a fleet advances many of them at once.

use crate::aqm::{AQM, AQM_OBSERVATION, AqmInterval};
use crate::control::{CONTROL, CONTROL_OBSERVATION, ControlInterval};
use crate::reward::{AqmReward, ControlReward};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sojourn_cc::CongestionControl;
use sojourn_run::run::Stepper;
use sojourn_scenario::{LabError, LabErrorKind, Resolved};
use sojourn_sim::topology::Role;
use sojourn_units::{Span, Time};
use std::sync::Arc;

/// What an agent does, with what it is paid.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Task {
    /// It sets the drop probability or delay of the queue [`AQM`].
    Aqm(AqmReward),
    /// It sets the window or pace of the flow with the congestion control [`CONTROL`].
    Control(ControlReward),
}

/// Facts about an interval, in SI units, beside what an agent of an AQM sees.
const AQM_FACTS: &[&str] = &[
    "time_s",
    "queue_delay_s",
    "backlog_bytes",
    "throughput_bps",
    "utilization_ratio",
    "dropped_packets",
    "marked_packets",
];

/// The same of a controller.
const CONTROL_FACTS: &[&str] = &[
    "time_s",
    "delivery_rate_bps",
    "rtt_s",
    "min_rtt_s",
    "lost_share",
    "in_flight_bytes",
    "cwnd_bytes",
];

impl Task {
    /// The names of the numbers of an observation.
    pub fn observation_names(&self) -> &'static [&'static str] {
        match self {
            Task::Aqm(_) => &AQM_OBSERVATION,
            Task::Control(_) => &CONTROL_OBSERVATION,
        }
    }

    /// The names of the facts about an interval, with their units.
    pub fn fact_names(&self) -> &'static [&'static str] {
        match self {
            Task::Aqm(_) => AQM_FACTS,
            Task::Control(_) => CONTROL_FACTS,
        }
    }
}

/// The component that an agent drives in a run.
#[derive(Clone, Copy)]
struct Seat {
    /// The index of its link or flow.
    index: usize,
    interval: Span,
    /// Rate of the flow's path, bits per second.
    path: f64,
}

/// One environment.
struct Env {
    task: Task,
    scenarios: Arc<[Arc<Resolved>]>,
    seed: u64,
    episode: u64,
    run: Option<(Stepper, Seat)>,
    /// The episode has ended: the next step begins another.
    over: bool,
}

/// Where an environment writes what an agent gets.
struct Slots<'a> {
    observation: &'a mut [f32],
    facts: &'a mut [f64],
    reward: &'a mut f64,
    truncated: &'a mut u8,
}

impl Env {
    /// Begins episode `episode` of `seed`: replication `episode` of the scenario with that seed.
    fn begin(&mut self, slots: &mut Slots<'_>) -> Result<(), LabError> {
        let number = u64::try_from(self.scenarios.len()).unwrap_or(1).max(1);
        let turn = self.seed.wrapping_add(self.episode) % number;
        let scenario = &self.scenarios[usize::try_from(turn).unwrap_or(0)];
        let mut scenario = Resolved::clone(scenario);
        scenario.run.seed = self.seed;
        let mut stepper = Stepper::new(Arc::new(scenario), self.episode)?;
        let seat = self.task.seat(&mut stepper)?;
        let mut ready = false;
        while !ready {
            let to = stepper.now() + seat.interval;
            if to + seat.interval > stepper.end() {
                return Err(too_short(&stepper, seat));
            }
            stepper.advance(to)?;
            ready = self.task.observe(&mut stepper, seat, slots);
        }
        *slots.reward = 0.0;
        *slots.truncated = 0;
        self.over = false;
        self.run = Some((stepper, seat));
        Ok(())
    }

    /// Takes an action for one interval; after the last one, begins the next episode.
    fn step(&mut self, action: f32, slots: &mut Slots<'_>) -> Result<(), LabError> {
        let Some((stepper, seat)) = self.run.as_mut().filter(|_| !self.over) else {
            self.episode += 1;
            return self.begin(slots);
        };
        let seat = *seat;
        self.task.steer(stepper, seat, f64::from(action));
        stepper.advance(stepper.now() + seat.interval)?;
        self.task.observe(stepper, seat, slots);
        self.over = stepper.now() + seat.interval > stepper.end();
        *slots.truncated = u8::from(self.over);
        if self.over {
            // Packets that were lost track of show at the end of a run.
            if let Some((stepper, _)) = self.run.take() {
                stepper.finish()?;
            }
        }
        Ok(())
    }
}

impl Task {
    /// Finds the component that it drives.
    fn seat(&self, stepper: &mut Stepper) -> Result<Seat, LabError> {
        match self {
            Task::Aqm(_) => aqm_seat(stepper),
            Task::Control(_) => control_seat(stepper),
        }
    }

    fn steer(&self, stepper: &mut Stepper, seat: Seat, action: f64) {
        let now = stepper.now();
        match self {
            Task::Aqm(_) => stepper.queue(seat.index).steer(&[action]),
            Task::Control(_) => {
                if let Some(cc) = stepper.sender(seat.index).control_mut() {
                    cc.steer(now, &[action]);
                }
            }
        }
    }

    /// Ends an interval and writes down what it was like; false where there was nothing to see yet.
    fn observe(&self, stepper: &mut Stepper, seat: Seat, slots: &mut Slots<'_>) -> bool {
        let now = stepper.now();
        let seconds = now.since(Time::ZERO).as_secs_f64();
        match self {
            Task::Aqm(reward) => {
                let mut state = Vec::new();
                stepper.queue(seat.index).state(&mut state);
                let Some(seen) = AqmInterval::of_state(&state) else {
                    return false;
                };
                slots
                    .observation
                    .copy_from_slice(&seen.observation(seat.interval));
                *slots.reward = reward.of(&seen);
                slots.facts.copy_from_slice(&[
                    seconds,
                    seen.queue_delay,
                    seen.backlog,
                    8.0 * seen.departed / seat.interval.as_secs_f64(),
                    seen.utilization(),
                    seen.dropped_packets,
                    seen.marked_packets,
                ]);
                true
            }
            Task::Control(reward) => {
                let Some(cc) = stepper.sender(seat.index).control_mut() else {
                    return false;
                };
                cc.steer(now, &[]);
                let Some(seen) = ControlInterval::of(cc).filter(ControlInterval::is_established)
                else {
                    return false;
                };
                slots
                    .observation
                    .copy_from_slice(&seen.observation(seat.interval));
                *slots.reward = reward.of(&seen, seat.path);
                slots.facts.copy_from_slice(&[
                    seconds,
                    seen.delivery_rate,
                    seen.rtt,
                    seen.min_rtt,
                    seen.lost_share(),
                    seen.in_flight,
                    seen.cwnd,
                ]);
                true
            }
        }
    }
}

fn aqm_seat(stepper: &mut Stepper) -> Result<Seat, LabError> {
    let links = stepper.links().iter().zip(0..);
    let own: Vec<usize> = links
        .filter(|(link, _)| link.discipline.name == AQM)
        .map(|(_, index)| index)
        .collect();
    // Topologies give the way back the same discipline.
    let studied = |index: &usize| stepper.links()[*index].role == Role::Bottleneck;
    let index = match own[..] {
        [index] => index,
        _ => {
            let studied: Vec<usize> = own.iter().copied().filter(studied).collect();
            let [index] = studied[..] else {
                return Err(not_one(own.len(), "queue", AQM, "topology.queue"));
            };
            index
        }
    };
    let pairs = &stepper.links()[index].resolved.pairs;
    let interval = pairs.iter().find(|(key, _)| *key == "interval");
    let interval = interval.and_then(|(_, text)| text.parse().ok());
    let interval = interval.unwrap_or(Span::from_ms(10));
    Ok(Seat {
        index,
        interval,
        path: 0.0,
    })
}

fn control_seat(stepper: &mut Stepper) -> Result<Seat, LabError> {
    let mut own = Vec::new();
    for flow in 0..stepper.flows().len() {
        let cc = stepper.sender(flow).control();
        if let Some(cc) = cc.filter(|cc| ControlInterval::of(*cc).is_some()) {
            let period = cc.period().map(|(_, interval)| interval);
            own.push((flow, period.unwrap_or(Span::from_ms(40))));
        }
    }
    let [(index, interval)] = own[..] else {
        return Err(not_one(own.len(), "flow", CONTROL, "flows[0]"));
    };
    let path = stepper.flows()[index].slowest.as_bps_f64();
    Ok(Seat {
        index,
        interval,
        path,
    })
}

fn not_one(found: usize, what: &str, component: &str, key: &str) -> LabError {
    let problem = match found {
        0 => format!("no {what} is {component}, so there is nothing to drive"),
        _ => format!("{found} {what}s are {component}, but an agent drives one"),
    };
    let remedy = format!("let exactly one {what} be {component}, for example {key}");
    LabError::new(LabErrorKind::Contradiction, problem)
        .key(key)
        .remedy(&remedy)
}

fn too_short(stepper: &Stepper, seat: Seat) -> LabError {
    let (end, interval) = (stepper.end().since(Time::ZERO), seat.interval);
    let problem = format!("a run of {end} ends before the first step of {interval}");
    LabError::new(LabErrorKind::Contradiction, problem)
        .key("run.duration")
        .remedy("let the run be longer or the interval shorter")
}

/// What agents get after a step or at the beginning of an episode, environment by environment.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// Observations, each of the numbers that [`Task::observation_names`] names.
    pub observations: Vec<f32>,
    /// Rewards; 0 where an episode begins.
    pub rewards: Vec<f64>,
    /// 1 where the run has come to its end, so that the next step begins another episode.
    pub truncated: Vec<u8>,
    /// Facts, each of the numbers that [`Task::fact_names`] names.
    pub facts: Vec<f64>,
}

/// Environments that advance together.
pub struct Fleet {
    task: Task,
    envs: Vec<Env>,
    pool: Option<ThreadPool>,
    batch: Batch,
}

impl Fleet {
    /// `number` environments of these scenarios, each in its own run, advanced by `threads` threads. The number of threads changes no
    /// result. An environment takes the scenarios in turn: episode e of seed s has number (s + e) modulo their number.
    ///
    /// # Errors
    /// If there are no scenarios, or no threads can be had.
    pub fn new(
        task: Task,
        scenarios: Vec<Resolved>,
        number: usize,
        threads: usize,
    ) -> Result<Fleet, LabError> {
        if scenarios.is_empty() || number == 0 {
            let problem = "an environment needs at least one scenario and one run";
            return Err(LabError::new(LabErrorKind::BadValue, problem));
        }
        let scenarios: Arc<[Arc<Resolved>]> = scenarios.into_iter().map(Arc::new).collect();
        let env = |seed: usize| Env {
            task,
            scenarios: Arc::clone(&scenarios),
            seed: u64::try_from(seed).unwrap_or(0),
            episode: 0,
            run: None,
            over: true,
        };
        let pool = match threads {
            0 | 1 => None,
            threads => {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                Some(pool.map_err(|error| {
                    LabError::new(LabErrorKind::Io, format!("no threads can be had: {error}"))
                })?)
            }
        };
        Ok(Fleet {
            task,
            envs: (0..number).map(env).collect(),
            pool,
            batch: Batch {
                observations: vec![0.0; number * task.observation_names().len()],
                rewards: vec![0.0; number],
                truncated: vec![0; number],
                facts: vec![0.0; number * task.fact_names().len()],
            },
        })
    }

    /// What its agents do.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The number of environments.
    pub fn len(&self) -> usize {
        self.envs.len()
    }

    /// Always false.
    pub fn is_empty(&self) -> bool {
        self.envs.is_empty()
    }

    /// Begins an episode in each environment: the first of a new seed where there is one, else the next of its seed.
    ///
    /// # Errors
    /// If a run cannot be made.
    pub fn reset(&mut self, seeds: &[Option<u64>]) -> Result<&Batch, LabError> {
        for (env, seed) in self.envs.iter_mut().zip(seeds) {
            match seed {
                Some(seed) => (env.seed, env.episode) = (*seed, 0),
                None => env.episode += 1,
            }
        }
        self.each(&|_, env, slots| env.begin(slots))
    }

    /// Gives each environment its action, -1 to 1, for one interval. Where an episode has ended before, the next one begins instead.
    ///
    /// # Errors
    /// A bug of Sojourn in one of the runs.
    pub fn step(&mut self, actions: &[f32]) -> Result<&Batch, LabError> {
        self.each(&|number, env, slots| {
            let action = actions.get(number).copied().unwrap_or(0.0);
            env.step(action, slots)
        })
    }

    fn each(
        &mut self,
        work: &(dyn Fn(usize, &mut Env, &mut Slots<'_>) -> Result<(), LabError> + Sync),
    ) -> Result<&Batch, LabError> {
        let widths = (
            self.task.observation_names().len(),
            self.task.fact_names().len(),
        );
        let Batch {
            observations,
            rewards,
            truncated,
            facts,
        } = &mut self.batch;
        let one = |((number, env), ((observation, facts), (reward, truncated))): Job<'_>| {
            let mut slots = Slots {
                observation,
                facts,
                reward,
                truncated,
            };
            work(number, env, &mut slots)
        };
        match &self.pool {
            None => {
                let slots = observations
                    .chunks_mut(widths.0)
                    .zip(facts.chunks_mut(widths.1));
                let scalars = rewards.iter_mut().zip(truncated.iter_mut());
                let envs = self.envs.iter_mut().enumerate();
                envs.zip(slots.zip(scalars)).try_for_each(one)?;
            }
            Some(pool) => {
                let slots = observations.par_chunks_mut(widths.0);
                let slots = slots.zip(facts.par_chunks_mut(widths.1));
                let scalars = rewards.par_iter_mut().zip(truncated.par_iter_mut());
                let envs = self.envs.par_iter_mut().enumerate();
                pool.install(|| envs.zip(slots.zip(scalars)).try_for_each(one))?;
            }
        }
        Ok(&self.batch)
    }
}

/// An environment with its number and its slots.
type Job<'a> = (
    (usize, &'a mut Env),
    ((&'a mut [f32], &'a mut [f64]), (&'a mut f64, &'a mut u8)),
);
