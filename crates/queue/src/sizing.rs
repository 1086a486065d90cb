//! Limits in time and in bandwidth-delay products: what they come to before a given link.
//!
//! A time becomes the bytes that the link sends in it at its nominal rate, a bandwidth-delay product those that it sends in a base round
//! trip, both rounded to the nearest byte. A queue that counts packets alone, as it does in some dialects, gets the packets of full size
//! that fit into these bytes. A limit is at least one packet of full size, so that something can be sent. In a shaper the rate is that of
//! the shaper, where it is below that of the link; in a class of HTB it is the guaranteed rate of the class, so that nothing waits longer
//! than the limit says.

use crate::catalogue::CatalogueEntry;
use crate::entry::{BuildContext, Missing, SpecError, contradiction};
use crate::registry::{find, prepare, resolve};
use sojourn_units::{
    Buffer, Bytes, Kind, Packets, ParamError, ParamInfo, ParamValue, Rate, Span, Spec, SpecValue,
    Specs,
};

/// What a limit in time or in bandwidth-delay products is computed with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSpeed {
    /// The nominal rate; none where the link has none.
    pub rate: Option<Rate>,
    /// The base round trip; none where none is known.
    pub round_trip: Option<Span>,
    /// The size of a full packet with its headers.
    pub packet: Bytes,
}

/// The size of a full packet where no flow says another: the MTU of Ethernet.
pub const FULL_PACKET: Bytes = Bytes::new(1500);

impl LinkSpeed {
    /// A link of this rate, with nothing else known.
    pub fn of(rate: Rate) -> LinkSpeed {
        LinkSpeed {
            rate: Some(rate),
            round_trip: None,
            packet: FULL_PACKET,
        }
    }

    /// The link as a queue sees it that sends at this rate, unless the link is slower.
    fn at_most(self, own: Rate) -> LinkSpeed {
        LinkSpeed {
            rate: Some(self.rate.map_or(own, |rate| rate.min(own))),
            ..self
        }
    }
}

/// A parameter that was given in time or in bandwidth-delay products, and what it became.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizedLimit {
    /// The parameter, such as `limit`, or `each.limit` of a queue inside; with the number of the queue where there are several.
    pub parameter: String,
    /// As it was given.
    pub asked: Buffer,
    /// What stands in its place, such as `50kB` or `33p`.
    pub became: String,
    /// The bytes that it comes to at the rate.
    pub bytes: Bytes,
    /// The full packets that fit into them, at least one.
    pub packets: Packets,
    /// The rate that it was computed with.
    pub rate: Rate,
    /// The base round trip that it was computed with; of a bandwidth-delay product alone.
    pub round_trip: Option<Span>,
    /// The size of a full packet.
    pub packet: Bytes,
}

/// How a parameter can take what a time or a bandwidth-delay product comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counts {
    Either,
    Bytes,
    Packets,
}

/// How a parameter counts, if it is an amount of what waits.
fn counts(info: &ParamInfo) -> Option<Counts> {
    let kind = match info.kind() {
        Kind::Optional(inner) => *inner,
        kind => kind,
    };
    match kind {
        Kind::Limit => Some(Counts::Either),
        Kind::Packets if is_limit(info.name) => Some(Counts::Packets),
        Kind::Size if is_limit(info.name) => Some(Counts::Bytes),
        _ => None,
    }
}

/// Whether a parameter bounds what may wait at all, and is not a threshold.
fn is_limit(name: &str) -> bool {
    name.ends_with("limit")
}

/// A parameter of a specification that is in time or in bandwidth-delay products.
fn relative(entry: &CatalogueEntry, key: &str, value: &SpecValue) -> Option<(Counts, Buffer)> {
    let info = entry.params.iter().find(|info| info.name == key)?;
    let SpecValue::Text(text) = value else {
        return None;
    };
    let counts = counts(info)?;
    let buffer: Buffer = text.parse().ok()?;
    buffer.depends_on_link().then_some((counts, buffer))
}

/// The specifications that are the value of a parameter.
fn inside(entry: &CatalogueEntry, key: &str, value: &SpecValue) -> Option<Specs> {
    match value {
        SpecValue::Specs(specs) => Some(specs.clone()),
        SpecValue::Text(text) => {
            let info = entry.params.iter().find(|info| info.name == key)?;
            info.kind().holds_specs().then(|| text.parse().ok())?
        }
    }
}

/// Whether a limit in a specification, or in one inside it, is in time or in bandwidth-delay products.
pub fn depends_on_link(spec: &Spec) -> bool {
    let Some(entry) = find(&spec.name) else {
        return false;
    };
    spec.args.iter().any(|(key, value)| {
        relative(entry, key, value).is_some()
            || inside(entry, key, value)
                .is_some_and(|specs| specs.all().into_iter().any(depends_on_link))
    })
}

/// The specification without the limits that depend on a link: what else may be wrong with it can be checked before the link is known.
#[must_use]
pub fn without_link(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let Some(entry) = find(&spec.name) else {
        return spec;
    };
    spec.args
        .retain(|(key, value)| relative(entry, key, value).is_none());
    for (key, value) in &mut spec.args {
        if let Some(specs) = inside(entry, key, value).filter(any_depends) {
            *value = SpecValue::Specs(specs.map(without_link));
        }
    }
    spec
}

fn any_depends(specs: &Specs) -> bool {
    specs.all().into_iter().any(depends_on_link)
}

/// The specification with limits in bytes or packets in place of those in time or in bandwidth-delay products, down through what is
/// inside; and what was replaced.
///
/// ```
/// use sojourn_queue::sizing::{LinkSpeed, sized};
/// use sojourn_units::{Bytes, Rate, Span};
///
/// let link = LinkSpeed {
///     rate: Some(Rate::mbps(10)),
///     round_trip: Some(Span::from_ms(40)),
///     packet: Bytes::new(1500),
/// };
/// let (spec, limits) = sized(&"codel limit=1bdp".parse()?, None, &link)?;
/// assert_eq!(spec.to_string(), "codel limit=50kB");
/// assert_eq!(limits[0].packets.to_string(), "33p");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the rate or the round trip is needed and not known.
pub fn sized(
    spec: &Spec,
    dialect: Option<&str>,
    link: &LinkSpeed,
) -> Result<(Spec, Vec<SizedLimit>), SpecError> {
    let mut limits = Vec::new();
    let spec = sized_in(spec, dialect, *link, "", &mut limits)?;
    Ok((spec, limits))
}

fn sized_in(
    spec: &Spec,
    dialect: Option<&str>,
    link: LinkSpeed,
    path: &str,
    limits: &mut Vec<SizedLimit>,
) -> Result<Spec, SpecError> {
    let mut spec = spec.clone();
    let Some(entry) = find(&spec.name) else {
        return Ok(spec);
    };
    if !depends_on_link(&spec) {
        return Ok(spec);
    }
    let rates = rates_inside(entry, &spec, dialect);
    let link = shaped(entry, &spec, dialect, link);
    for (key, value) in &mut spec.args {
        let Some(specs) = inside(entry, key, value).filter(any_depends) else {
            continue;
        };
        let specs = one_each(specs, &rates);
        let several = specs.all().len() > 1;
        let mut number = 0..;
        let specs = specs.try_map(|inner| {
            let number = number.next().unwrap_or(usize::MAX);
            let link = match rates.get(number) {
                Some(rate) => link.at_most(*rate),
                None => link,
            };
            let number = match several {
                true => format!("[{number}]"),
                false => String::new(),
            };
            let path = format!("{path}{key}{number}.");
            sized_in(inner, dialect, link, &path, limits)
        })?;
        *value = SpecValue::Specs(specs);
    }
    let own = own_limits(entry, &spec, link, path)?;
    let with = |packets: bool| {
        let mut spec = spec.clone();
        for (key, limit) in &own {
            let text = limit.text(packets);
            let arg = spec.args.iter_mut().find(|(name, _)| name == key);
            if let Some((_, value)) = arg {
                *value = SpecValue::Text(text);
            }
        }
        spec
    };
    // The discipline knows whether it counts bytes in this dialect with these parameters: it refuses what it does not.
    let packets = !builds(&with(false), dialect) && builds(&with(true), dialect);
    let chosen = with(packets);
    limits.extend(own.into_iter().map(|(key, limit)| SizedLimit {
        parameter: format!("{path}{key}"),
        became: limit.text(packets),
        ..limit.limit
    }));
    Ok(chosen)
}

/// A limit before it is known whether the queue counts bytes or packets.
struct Undecided {
    limit: SizedLimit,
    counts: Counts,
}

impl Undecided {
    fn text(&self, packets: bool) -> String {
        match self.counts {
            Counts::Bytes => self.limit.bytes.to_string(),
            Counts::Packets => self.limit.packets.to_string(),
            Counts::Either if packets => self.limit.packets.to_string(),
            Counts::Either => self.limit.bytes.to_string(),
        }
    }
}

/// The parameters of a specification that depend on the link.
fn own_limits(
    entry: &CatalogueEntry,
    spec: &Spec,
    link: LinkSpeed,
    path: &str,
) -> Result<Vec<(String, Undecided)>, SpecError> {
    let given = spec.args.iter();
    let given = given.filter_map(|(key, value)| Some((key, relative(entry, key, value)?)));
    let limits = given.map(|(key, (counts, asked))| {
        let missing = |missing| SpecError::NoLink {
            discipline: entry.name,
            key: format!("{path}{key}"),
            given: asked.to_string(),
            missing,
        };
        let rate = link.rate.ok_or_else(|| missing(Missing::Rate))?;
        let round_trip = match asked {
            Buffer::Bdp(_) => Some(link.round_trip.ok_or_else(|| missing(Missing::RoundTrip))?),
            _ => None,
        };
        let bytes = asked.bytes(rate, round_trip.unwrap_or_default());
        let bytes = bytes.expect("a limit that depends on a link has bytes");
        if is_limit(key) && !asked.in_range("1p", "") {
            return Err(SpecError::Param {
                discipline: entry.name,
                error: ParamError::OutOfRange {
                    key: key.clone(),
                    given: asked.to_string(),
                    allowed: "more than zero".to_owned(),
                },
            });
        }
        if bytes == Bytes::MAX {
            let text = format!(
                "{path}{key}: \"{asked}\" is too large: at {rate} it comes to more bytes than 64 bits can count; write a smaller limit"
            );
            return Err(contradiction(entry.name, text));
        }
        let least = match is_limit(key) {
            true => link.packet,
            false => Bytes::ZERO,
        };
        let bytes = bytes.max(least);
        let packets = bytes.get() / link.packet.get().max(1);
        let limit = SizedLimit {
            parameter: key.clone(),
            asked,
            became: String::new(),
            bytes,
            packets: Packets::new(packets.max(1)),
            rate,
            round_trip,
            packet: link.packet,
        };
        Ok((key.clone(), Undecided { limit, counts }))
    });
    limits.collect()
}

/// The link as a queue in a shaper sees it.
fn shaped(
    entry: &CatalogueEntry,
    spec: &Spec,
    dialect: Option<&str>,
    link: LinkSpeed,
) -> LinkSpeed {
    let Some(name) = entry.shapes_to else {
        return link;
    };
    let known = resolve(&without_link(spec), dialect).ok();
    let pairs = known.map(|(_, resolved)| resolved.pairs);
    let text = pairs.and_then(|pairs| pairs.into_iter().find(|(key, _)| *key == name));
    let own: Option<Rate> = text.and_then(|(_, text)| text.parse().ok());
    own.map_or(link, |own| link.at_most(own))
}

/// The rates of the queues inside, in their order; none where they have no rates of their own.
fn rates_inside(entry: &CatalogueEntry, spec: &Spec, dialect: Option<&str>) -> Vec<Rate> {
    let Some((name, read)) = entry.rates_inside else {
        return Vec::new();
    };
    let known = resolve(&without_link(spec), dialect).ok();
    let mut pairs = known.into_iter().flat_map(|(_, resolved)| resolved.pairs);
    let text = pairs.find(|(key, _)| *key == name);
    text.map_or_else(Vec::new, |(_, text)| read(&text))
}

/// A specification for each rate, where the rates differ: the last one stands for all further queues.
fn one_each(specs: Specs, rates: &[Rate]) -> Specs {
    let given = specs.all();
    if rates.len() <= given.len() || rates.windows(2).all(|two| two[0] == two[1]) {
        return specs;
    }
    let all = (0..rates.len()).map(|number| given[number.min(given.len() - 1)].clone());
    Specs::of_list(all.collect()).unwrap_or(specs)
}

fn builds(spec: &Spec, dialect: Option<&str>) -> bool {
    let cx = BuildContext {
        dialect: dialect.map(str::to_owned),
        per_flow: false,
        ..BuildContext::plain(0, "sizing")
    };
    prepare(spec, dialect).is_ok_and(|prepared| prepared.build(&cx).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkSpeed = LinkSpeed {
        rate: Some(Rate::mbps(10)),
        round_trip: Some(Span::from_ms(40)),
        packet: Bytes::new(1500),
    };

    fn at(text: &str, dialect: Option<&str>, link: &LinkSpeed) -> Result<String, SpecError> {
        let spec = text.parse().expect("a spec");
        sized(&spec, dialect, link).map(|(spec, _)| spec.to_string())
    }

    fn plain(text: &str) -> String {
        at(text, None, &LINK).expect("sized")
    }

    #[test]
    fn every_discipline_with_a_limit_takes_it_in_time_and_in_bdp() {
        let mut seen = 0;
        for entry in crate::registry::catalogue() {
            if entry.params.iter().all(|info| info.name != "limit") {
                continue;
            }
            let dialects = entry.dialects.iter().map(|dialect| Some(dialect.name));
            for dialect in dialects.chain([None]) {
                let takes = |limit: &str| {
                    let text = format!("{} limit={limit}", entry.name);
                    builds(&text.parse().expect("a spec"), dialect)
                };
                if !takes("500kB") && !takes("333p") {
                    // It has a limit for each queue alone in this dialect.
                    continue;
                }
                for limit in ["400ms", "10bdp"] {
                    let text = format!("{} limit={limit}", entry.name);
                    let spec = text.parse().expect("a spec");
                    let (spec, limits) = sized(&spec, dialect, &LINK).expect("sized");
                    // A shaper has a rate by default, below that of the link.
                    let bytes = match entry.name {
                        "tbf" => 50_000,
                        _ => 500_000,
                    };
                    assert_eq!(limits[0].bytes, Bytes::new(bytes), "{text}");
                    assert!(builds(&spec, dialect), "{text} {dialect:?}: {spec}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_queue_that_counts_packets_alone_gets_full_packets() {
        assert_eq!(plain("codel limit=1bdp"), "codel limit=50kB");
        assert_eq!(
            at("droptail limit=1bdp", Some("linux_head"), &LINK),
            Ok("droptail limit=33p".to_owned())
        );
        let small = LinkSpeed {
            packet: Bytes::new(500),
            ..LINK
        };
        assert_eq!(
            at("droptail limit=1bdp", Some("linux_head"), &small),
            Ok("droptail limit=100p".to_owned())
        );
    }

    #[test]
    fn a_limit_holds_a_full_packet_at_least_and_a_threshold_is_exact() {
        assert_eq!(plain("droptail limit=10us"), "droptail limit=1500B");
        assert_eq!(
            plain("step threshold=10us limit=1bdp"),
            "step threshold=13B limit=50kB"
        );
        let zero = at("droptail limit=0ms", None, &LINK)
            .unwrap_err()
            .to_string();
        assert_eq!(
            zero,
            "droptail: limit: \"0s\" is out of range, allowed is more than zero"
        );
    }

    #[test]
    fn queues_inside_have_limits_of_the_same_link() {
        assert_eq!(
            plain("prio each=(codel limit=50ms),(drr limit=none each=(droptail limit=0.5bdp))"),
            "prio each=(codel limit=62500B),(drr limit=none each=(droptail limit=25kB))"
        );
        let spec = "prio each=(codel),(red limit=2bdp)"
            .parse()
            .expect("a spec");
        let (_, limits) = sized(&spec, None, &LINK).expect("sized");
        assert_eq!(limits[0].parameter, "each[1].limit");
        assert_eq!(
            plain("drr each=\"codel limit=50ms\""),
            "drr each=(codel limit=62500B)"
        );
    }

    #[test]
    fn in_a_shaper_the_rate_is_that_of_the_shaper() {
        assert_eq!(
            plain("tbf rate=5Mbps limit=none each=(droptail limit=50ms)"),
            "tbf rate=5Mbps limit=none each=(droptail limit=31250B)"
        );
        assert_eq!(
            plain("tbf rate=5Mbps limit=1bdp"),
            "tbf rate=5Mbps limit=25kB"
        );
        assert_eq!(
            plain("htb rate=4Mbps classes=1Mbps/4Mbps,3Mbps/4Mbps each=(droptail limit=100ms)"),
            "htb rate=4Mbps classes=1Mbps/4Mbps,3Mbps/4Mbps each=(droptail limit=12500B),(droptail limit=37500B)"
        );
        // One above the link's rate shapes nothing.
        assert_eq!(
            plain("tbf rate=50Mbps limit=1bdp"),
            "tbf rate=50Mbps limit=50kB"
        );
        assert_eq!(plain("cake limit=50ms"), "cake limit=62500B");
        assert_eq!(
            plain("cake bandwidth=5Mbps limit=50ms"),
            "cake bandwidth=5Mbps limit=31250B"
        );
    }

    #[test]
    fn each_class_of_htb_has_the_limit_of_its_guaranteed_rate() {
        assert_eq!(
            plain("htb rate=10Mbps classes=1Mbps each=(droptail limit=50ms)"),
            "htb rate=10Mbps classes=1Mbps each=(droptail limit=6250B)"
        );
        // Of a class with classes below it, these have the queues.
        let spec = "htb rate=9Mbps classes=4Mbps/8Mbps{1Mbps/8Mbps,2Mbps/4Mbps},5Mbps each=(droptail limit=1bdp),(codel)";
        let spec = spec.parse().expect("a spec");
        let (_, limits) = sized(&spec, None, &LINK).expect("sized");
        assert_eq!(limits[0].rate, Rate::mbps(1));
        let spec = "htb rate=9Mbps classes=4Mbps/8Mbps{1Mbps/8Mbps,2Mbps/4Mbps},5Mbps each=(droptail limit=1bdp)";
        let spec = spec.parse().expect("a spec");
        let (_, limits) = sized(&spec, None, &LINK).expect("sized");
        let rates: Vec<Rate> = limits.iter().map(|limit| limit.rate).collect();
        assert_eq!(rates, [Rate::mbps(1), Rate::mbps(2), Rate::mbps(5)]);
        assert_eq!(limits[2].parameter, "each[2].limit");
    }

    #[test]
    fn a_limit_of_more_bytes_than_can_be_counted_is_too_large() {
        let fast = LinkSpeed {
            rate: Some(Rate::mbps(1_000_000)),
            round_trip: Some(Span::from_secs(100)),
            ..LINK
        };
        let error = at("droptail limit=9999999bdp", None, &fast).unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");
    }

    #[test]
    fn a_threshold_below_a_packet_is_one_packet_where_packets_are_counted() {
        let slow = LinkSpeed {
            rate: Some(Rate::mbps(3)),
            ..LINK
        };
        assert_eq!(
            at("red min=3ms max=9ms limit=20ms", None, &slow),
            Ok("red min=1p max=2p limit=5p".to_owned())
        );
    }

    #[test]
    fn a_link_without_rate_or_round_trip_is_said() {
        let none = LinkSpeed {
            rate: None,
            round_trip: None,
            ..LINK
        };
        let text = |link: &LinkSpeed, text: &str| at(text, None, link).unwrap_err().to_string();
        assert_eq!(
            text(&none, "drr each=(codel limit=50ms)"),
            "codel: each.limit: \"50ms\": the link has no nominal rate to compute it with; write packets or bytes, such as 100p or 64kB"
        );
        let quiet = LinkSpeed {
            round_trip: None,
            ..LINK
        };
        assert!(text(&quiet, "codel limit=1bdp").contains("no base round trip is known"));
        assert_eq!(
            at("codel limit=50ms", None, &quiet),
            Ok("codel limit=62500B".to_owned())
        );
    }

    #[test]
    fn what_depends_on_no_link_stays_as_it_is() {
        for text in [
            "codel target=5ms limit=100p",
            "tbf latency=50ms",
            "nothing limit=50ms",
            "codel limit=50foo",
        ] {
            assert_eq!(plain(text), text);
            assert!(!depends_on_link(&text.parse().expect("a spec")));
        }
    }

    #[test]
    fn without_the_link_the_rest_stays() {
        let text = "prio each=(codel target=9ms limit=50ms),(red min=1bdp limit=9p)";
        let spec = text.parse().expect("a spec");
        assert_eq!(
            without_link(&spec).to_string(),
            "prio each=(codel target=9ms),(red limit=9p)"
        );
    }
}
