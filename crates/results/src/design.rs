//! What a study leaves to Sojourn, the warm-up and how often and how long runs are made, and what has been decided of it.
//!
//! A study is made in rounds. What the next round is follows from the runs of the finished one alone, so that it does not matter
//! who makes which run, or when. The manifest says which round a directory is in, and its points hold the numbers of that round.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_units::Span;

/// Replications of a first round.
pub const PILOT: u64 = 3;

/// What a study leaves to Sojourn, and how far it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Number of the round, from 0.
    pub round: u64,
    /// Points for which one decision is made: those that are compared with each other.
    pub groups: Vec<Group>,
}

/// Points for which one decision is made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The points, with what their scenarios ask for.
    pub points: Vec<Asked>,
    /// What intervals are to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// What is being done.
    pub stage: Stage,
    /// The warm-up of all points that leave it open, once it was decided to be longer than that of the first runs.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "optional_text"
    )]
    pub warmup: Option<Span>,
    /// How often the duration of runs was doubled.
    #[serde(default)]
    pub doublings: u32,
    /// How often replications were added.
    #[serde(default)]
    pub additions: u64,
    /// What was decided and why, a sentence each.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Why the points are not known to be steady, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
}

/// What a point asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Number of the point.
    pub point: u64,
    /// Its warm-up follows from first runs.
    pub auto: bool,
    /// Its warm-up, or that of the first runs.
    #[serde(with = "text")]
    pub warmup: Span,
    /// Simulated time of a run.
    #[serde(with = "text")]
    pub duration: Span,
    /// Replications.
    pub replications: u64,
}

/// What intervals are to be, and how much may be spent on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precision {
    /// Half the width of an interval over the mean, at most.
    pub share: f64,
    /// The metrics; those that tables show first unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Longest simulated time of a run; 8 times as long as asked for unless given.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "optional_text"
    )]
    pub max_duration: Option<Span>,
    /// Most replications; 10 times as many as asked for unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replications: Option<u64>,
}

/// What is being done with a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// First runs, from which the warm-up follows.
    Pilot,
    /// All replications.
    Main,
    /// Nothing is left to decide.
    Done,
}

/// How a point is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The warm-up.
    pub warmup: Span,
    /// Simulated time of a run.
    pub duration: Span,
    /// Replications.
    pub replications: u64,
}

/// Durations and replications that precision leads to, at most, in those asked for.
const MOST_DURATION: u64 = 8;
const MOST_REPLICATIONS: u64 = 10;

impl Design {
    /// How a point is run in this round; `None` where its scenario says so.
    pub fn plan(&self, point: u64) -> Option<Plan> {
        let of = |group: &Group| {
            let asked = group.points.iter().find(|asked| asked.point == point)?;
            Some(group.plan(asked))
        };
        self.groups.iter().find_map(of)
    }

    /// The group of a point.
    pub fn group(&self, point: u64) -> Option<&Group> {
        let has = |group: &&Group| group.points.iter().any(|asked| asked.point == point);
        self.groups.iter().find(has)
    }

    /// Whether nothing is left to decide.
    pub fn is_done(&self) -> bool {
        self.groups.iter().all(|group| group.stage == Stage::Done)
    }

    /// The same before any decision, with all replications that are asked for.
    #[must_use]
    pub fn as_asked(&self) -> Design {
        let groups = self.groups.iter().map(|group| Group {
            stage: Stage::Main,
            warmup: None,
            doublings: 0,
            additions: 0,
            reasons: Vec::new(),
            unsettled: None,
            ..group.clone()
        });
        Design {
            round: 0,
            groups: groups.collect(),
        }
    }

    /// This design as far as the decisions of another, of the same study, hold for it: all if both ask for the same; those on
    /// the warm-up if only replications and precision differ.
    #[must_use]
    pub fn continued_from(&self, other: &Design) -> Design {
        if self.as_asked() == other.as_asked() {
            return other.clone();
        }
        let mut own = self.clone();
        for group in &mut own.groups {
            let first = group.points.first().map(|asked| asked.point);
            let theirs = first.and_then(|point| other.group(point));
            let Some(theirs) = theirs.filter(|theirs| group.has_same_pilot(theirs)) else {
                continue;
            };
            if theirs.stage != Stage::Pilot {
                group.stage = Stage::Main;
                group.warmup = theirs.warmup;
                group.doublings = theirs.doublings;
                let decided = theirs.reasons.iter().take(theirs.pilot_reasons());
                group.reasons = decided.cloned().collect();
                group.unsettled.clone_from(&theirs.unsettled);
            }
        }
        own
    }
}

impl Group {
    /// Whether some point leaves its warm-up open.
    pub fn is_auto(&self) -> bool {
        self.points.iter().any(|asked| asked.auto)
    }

    /// How a point of it is run.
    pub fn plan(&self, asked: &Asked) -> Plan {
        let duration = asked.duration.saturating_mul(1 << self.doublings.min(40));
        // What is cut of a run is at most three quarters of it, where a point is shorter than the others.
        let longest = duration / 4 * 3;
        let warmup = match self.warmup {
            Some(warmup) if asked.auto => warmup.min(longest).max(asked.warmup),
            _ => asked.warmup,
        };
        let wanted = match self.stage {
            Stage::Pilot => asked.replications.min(PILOT),
            Stage::Main | Stage::Done => {
                let all = asked.replications.saturating_mul(self.additions + 1);
                all.min(self.most_replications(asked))
            }
        };
        Plan {
            warmup,
            duration,
            replications: wanted,
        }
    }

    fn most_replications(&self, asked: &Asked) -> u64 {
        let Some(precision) = &self.precision else {
            return asked.replications;
        };
        let most = precision.max_replications;
        most.unwrap_or_else(|| asked.replications.saturating_mul(MOST_REPLICATIONS))
            .max(asked.replications)
    }

    /// Whether replications may be added.
    pub fn may_add(&self) -> bool {
        let adds = |asked: &Asked| {
            let now = asked.replications.saturating_mul(self.additions + 1);
            now < self.most_replications(asked)
        };
        self.precision.is_some() && self.points.iter().any(adds)
    }

    /// Whether runs may be twice as long.
    pub fn may_double(&self) -> bool {
        let Some(precision) = &self.precision else {
            return false;
        };
        self.points.iter().all(|asked| {
            let most = precision.max_duration;
            let most = most.unwrap_or_else(|| asked.duration.saturating_mul(MOST_DURATION));
            self.plan(asked).duration.saturating_mul(2) <= most
        })
    }

    /// Whether the first runs of another are those of this, and what follows from them.
    fn has_same_pilot(&self, other: &Group) -> bool {
        let pilot = |group: &Group| {
            let points = group.points.iter().map(|asked| Asked {
                replications: asked.replications.min(PILOT),
                ..asked.clone()
            });
            let longest = group.precision.as_ref().map(|own| own.max_duration);
            (points.collect::<Vec<Asked>>(), longest)
        };
        pilot(self) == pilot(other)
    }

    /// Reasons that are of the first runs.
    fn pilot_reasons(&self) -> usize {
        let of_pilot = |reason: &&String| !reason.starts_with(OF_REPLICATIONS);
        self.reasons.iter().take_while(of_pilot).count()
    }
}

/// What a reason says where a precision was not met.
pub const MOST_ALLOWED: &str = "the most allowed";

/// How reasons begin that are about the number of replications.
pub const OF_REPLICATIONS: &str = "Replications: ";

/// A length of time as text.
mod text {
    use super::{Deserialize as _, Deserializer, Serializer, Span};

    pub(super) fn serialize<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&span.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Span, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A length of time as text, or nothing.
mod optional_text {
    use super::{Deserialize as _, Deserializer, Serializer, Span};

    pub(super) fn serialize<S: Serializer>(
        span: &Option<Span>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => serializer.serialize_str(&span.to_string()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Span>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let span = text.map(|text| text.parse()).transpose();
        span.map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(replications: u64) -> Design {
        let asked = |point| Asked {
            point,
            auto: true,
            warmup: Span::from_secs(5),
            duration: Span::from_secs(60),
            replications,
        };
        Design {
            round: 0,
            groups: vec![Group {
                points: vec![asked(0), asked(1)],
                precision: None,
                stage: Stage::Pilot,
                warmup: None,
                doublings: 0,
                additions: 0,
                reasons: Vec::new(),
                unsettled: None,
            }],
        }
    }

    #[test]
    fn a_design_is_the_same_after_a_manifest() {
        let mut design = design(10);
        design.groups[0].warmup = Some(Span::from_ps(12_345_678_901_234));
        design.groups[0].precision = Some(Precision {
            share: 0.02,
            of: None,
            max_duration: Some(Span::from_secs(240)),
            max_replications: None,
        });
        let text = serde_json::to_string(&design).unwrap();
        assert_eq!(serde_json::from_str::<Design>(&text).unwrap(), design);
    }

    #[test]
    fn first_runs_are_few_and_keep_the_warm_up_that_was_asked_for() {
        let plan = design(10).plan(1).unwrap();
        let expected = Plan {
            warmup: Span::from_secs(5),
            duration: Span::from_secs(60),
            replications: PILOT,
        };
        assert_eq!(plan, expected);
        assert_eq!(design(2).plan(1).unwrap().replications, 2);
        assert_eq!(design(2).plan(7), None);
    }

    #[test]
    fn more_replications_keep_what_was_decided_of_the_warm_up() {
        let mut decided = design(10);
        decided.round = 1;
        decided.groups[0].stage = Stage::Done;
        decided.groups[0].warmup = Some(Span::from_secs(12));
        assert_eq!(design(10).continued_from(&decided), decided);
        let more = design(20).continued_from(&decided);
        let plan = more.plan(0).unwrap();
        assert_eq!((plan.warmup, plan.replications), (Span::from_secs(12), 20));
        // The first runs of fewer replications are others.
        assert_eq!(design(2).continued_from(&decided), design(2));
    }
}
