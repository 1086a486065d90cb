//! The operations on the run that is watched.

use serde_json::{Value, json};
use sojourn_run::live::{Lane, Live, OF_LANE, OF_QUEUE, Seen};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::{Span, Time};

use super::{Module, numbers, scenario};
use crate::digest::digest;

/// Time between rows where the request gives none.
const STEP: Span = Span::from_ms(20);

/// Packets that are handed over of a queue, and of all links.
const MOST_PACKETS: usize = 2_000;

/// No lane.
const NONE: f64 = -1.0;

impl Module {
    pub(super) fn open(&mut self, request: &Value) -> Result<Value> {
        let (document, scenario, needs) = scenario(request)?;
        let step = request["step_us"].as_u64().map_or(STEP, Span::from_us);
        let replication = request["replication"].as_u64().unwrap_or_default();
        let live = scenario
            .resolve()
            .and_then(|resolved| Live::new(&resolved, replication, step))
            .map_err(|error| document.locate(error))?;
        let queues = live.queues().map(|link| {
            json!({
                "link": link.name,
                "discipline": link.discipline.name,
                "title": link.discipline.title,
                "release": link.resolved.release,
                "rate_bps": link.rate.as_bps(),
            })
        });
        let lanes = live.lanes().iter().map(
            |lane: &Lane| json!({ "name": lane.name, "kind": lane.kind, "forward": lane.forward }),
        );
        let answer = json!({
            "queues": queues.collect::<Vec<_>>(),
            "lanes": lanes.collect::<Vec<_>>(),
            "of_queue": OF_QUEUE,
            "of_lane": OF_LANE,
            "step_s": step.as_secs_f64(),
            "end_s": live.end().since(Time::ZERO).as_secs_f64(),
            "warmup_s": scenario.run.warmup().as_secs_f64(),
            "flows": live.flows(),
            "bytes": needs.run_bytes,
            "links": live.links().iter().map(|link| link.name.as_str()).collect::<Vec<_>>(),
        });
        self.live = Some(live);
        Ok(answer)
    }

    fn live(&mut self) -> Result<&mut Live> {
        self.live.as_mut().ok_or_else(|| {
            LabError::new(LabErrorKind::MissingKey, "no run is open").remedy("open one first")
        })
    }

    /// Where the run is.
    fn place(&mut self, goes_on: bool) -> Result<Value> {
        let live = self.live()?;
        Ok(json!({
            "now_s": live.now().since(Time::ZERO).as_secs_f64(),
            "hops": live.hops(),
            "ended": !goes_on,
        }))
    }

    pub(super) fn rows(&mut self, request: &Value) -> Result<Value> {
        let count = request["count"].as_u64().unwrap_or(1);
        let mut rows = std::mem::take(&mut self.numbers);
        let live = self.live()?;
        let mut goes_on = true;
        for _ in 0..count {
            goes_on = live.row(&mut rows)?;
            if !goes_on {
                break;
            }
        }
        let goes_on = goes_on && live.now() < live.end();
        self.numbers = rows;
        self.place(goes_on)
    }

    pub(super) fn creep(&mut self, request: &Value) -> Result<Value> {
        let until = Time::ZERO + Span::from_us(request["to_us"].as_u64().unwrap_or_default());
        let mut rows = std::mem::take(&mut self.numbers);
        let live = self.live()?;
        let goes_on = live.creep(until, &mut rows)?;
        self.numbers = rows;
        self.place(goes_on)
    }

    pub(super) fn change(&mut self, request: &Value) -> Result<Value> {
        let (document, scenario, _) = scenario(request)?;
        let live = self.live()?;
        let changed = scenario
            .resolve()
            .and_then(|resolved| live.change_to(&resolved));
        changed.map_err(|error| document.locate(error))?;
        Ok(json!({}))
    }

    /// Of each packet: lane, number, bytes, whether it is marked, and for how many seconds it has waited. In the order of arrival.
    pub(super) fn waiting(&mut self, request: &Value) -> Result<Value> {
        let place = request["queue"].as_u64().unwrap_or_default();
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let live = self.live()?;
        let now = live.now();
        let mut packets = Vec::new();
        live.waiting(place, |packet| packets.push(packet));
        let dropped = live.dropped(place);
        packets.sort_by_key(|packet: &Seen| (packet.since, packet.uid));
        packets.truncate(MOST_PACKETS);
        for packet in &packets {
            let waited = now.saturating_since(packet.since).as_secs_f64();
            self.numbers.extend(common(packet));
            self.numbers.push(waited);
        }
        Ok(json!({
            "dropped": dropped.iter().map(|counts| counts.0).collect::<Vec<_>>(),
            "marked": dropped.iter().map(|counts| counts.1).collect::<Vec<_>>(),
        }))
    }

    /// Of each packet on the links asked for: lane, number, bytes, whether it is marked, the place of the link in the request, and how
    /// much of its way it has behind it.
    pub(super) fn wires(&mut self, request: &Value) -> Result<Value> {
        let asked = request["links"].as_array().cloned().unwrap_or_default();
        let mut numbers = std::mem::take(&mut self.numbers);
        let live = self.live()?;
        let now = live.now();
        let links = live.links().len();
        let mut place = 0.0;
        for link in asked.iter().filter_map(Value::as_u64) {
            let link = usize::try_from(link).unwrap_or(usize::MAX);
            if link < links {
                live.under_way(link, |packet| {
                    if numbers.len() < MOST_PACKETS * 6 {
                        numbers.extend(common(&packet));
                        numbers.extend([place, share(&packet, now)]);
                    }
                });
            }
            place += 1.0;
        }
        self.numbers = numbers;
        Ok(json!({}))
    }

    pub(super) fn finish(&mut self) -> Result<Value> {
        let live = self.live.take();
        let live = live.ok_or_else(|| {
            LabError::new(LabErrorKind::MissingKey, "no run is open").remedy("open one first")
        })?;
        let outcome = live.into_outcome()?;
        Ok(json!({ "digest": digest(&outcome), "numbers": numbers::numbers(&outcome) }))
    }
}

fn common(packet: &Seen) -> [f64; 4] {
    let lane = packet.lane.and_then(|lane| u32::try_from(lane).ok());
    [
        lane.map_or(NONE, f64::from),
        f64::from(packet.uid),
        f64::from(packet.size),
        f64::from(u8::from(packet.marked)),
    ]
}

/// How much of its way a packet has behind it, from 0 to 1.
fn share(packet: &Seen, now: Time) -> f64 {
    let Some(arrives) = packet.arrives else {
        return 0.0;
    };
    let whole = arrives.saturating_since(packet.since).as_secs_f64();
    let behind = now.saturating_since(packet.since).as_secs_f64();
    match whole > 0.0 {
        true => (behind / whole).min(1.0),
        false => 1.0,
    }
}
