//! What the viewer of a video got: columns of flows that are null for all others.

use super::column::Columns;
use super::reader::Reader;
use crate::outcome::FlowOutcome;
use sojourn_traffic::workload::player::Playback;
use sojourn_units::Span;

/// Declares them.
pub(super) fn declare(all: &mut Columns<FlowOutcome>) {
    all.optional(
        "playback_startup_ps",
        "ps",
        "Of adaptive streaming: from the first request until the picture moved; null if it never did.",
        |flow| flow.playback?.startup.map(Span::as_ps),
    );
    all.optional(
        "playback_stalls_count",
        "1",
        "Of adaptive streaming: times at which the picture froze.",
        |flow| Some(flow.playback?.stalls),
    );
    all.optional(
        "playback_stalled_ps",
        "ps",
        "Of adaptive streaming: how long it was frozen.",
        |flow| Some(flow.playback?.stalled.as_ps()),
    );
    all.optional(
        "playback_played_ps",
        "ps",
        "Of adaptive streaming: how long it moved.",
        |flow| Some(flow.playback?.played.as_ps()),
    );
    all.optional(
        "playback_segments_count",
        "1",
        "Of adaptive streaming: segments that were asked for.",
        |flow| Some(flow.playback?.segments),
    );
    all.optional(
        "playback_rates_bps_sum",
        "bit/s",
        "Of adaptive streaming: the rates of their qualities, added up.",
        |flow| Some(flow.playback?.rates_sum),
    );
    all.optional(
        "playback_switches_count",
        "1",
        "Of adaptive streaming: segments of another quality than the one before.",
        |flow| Some(flow.playback?.switches),
    );
}

/// Reads them back.
pub(super) fn read(reader: &Reader<'_>, row: usize) -> Result<Option<Playback>, String> {
    let Some(segments) = reader.optional("playback_segments_count", row)? else {
        return Ok(None);
    };
    let optional = |name| reader.optional(name, row);
    let integer = |name| optional(name).map(Option::unwrap_or_default);
    Ok(Some(Playback {
        startup: optional("playback_startup_ps")?.map(Span::from_ps),
        stalls: integer("playback_stalls_count")?,
        stalled: Span::from_ps(integer("playback_stalled_ps")?),
        played: Span::from_ps(integer("playback_played_ps")?),
        segments,
        rates_sum: integer("playback_rates_bps_sum")?,
        switches: integer("playback_switches_count")?,
    }))
}
