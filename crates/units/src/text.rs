//! The text forms: how values are written with units, read back, and printed.
//!
//! A quantity is a number and a unit, with or without a space between. Decimal prefixes are k M G, binary ones Ki Mi Gi;
//! case matters. Numbers are read in integers, digit by digit, so that "1.1Mbps" is 1 100 000 bits per second and nothing
//! near it. What is printed is exact, as short as it can be, and reads back to the same value.

use core::fmt;
use core::str::FromStr;

use crate::buffer::{Bdp, Buffer};
use crate::convert::widen;
use crate::error::{UnitError, UnitErrorKind, nearest};
use crate::rate::Rate;
use crate::size::{Bytes, Limit, Packets, Ratio};
use crate::time::{PS_PER_S, Span, Time};

/// How a kind of quantity is written.
pub(crate) struct Quantity {
    /// With its article: "a duration".
    noun: &'static str,
    /// A well-formed one.
    pub(crate) example: &'static str,
    /// The unit to suggest behind a bare number, where one is usual.
    usual: Option<&'static str>,
    /// The units that a message names.
    common: &'static str,
    /// Each unit and how many of the smallest step it is.
    units: &'static [(&'static str, u64)],
    /// What people write instead of a unit, and the unit they mean.
    aliases: &'static [(&'static str, &'static str)],
    /// The smallest step, in the plural.
    step: &'static str,
    /// The most that fits, for the reader.
    most: &'static str,
}

const PS: u64 = PS_PER_S;

pub(crate) const DURATION: Quantity = Quantity {
    noun: "a duration",
    example: "5ms",
    usual: Some("ms"),
    common: "us, ms, s, min",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        // The Greek letter, which looks the same as the micro sign before it.
        ("μs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", PS),
        ("min", 60 * PS),
        ("h", 3_600 * PS),
    ],
    aliases: &[
        ("m", "min"),
        ("mins", "min"),
        ("minute", "min"),
        ("minutes", "min"),
        ("hr", "h"),
        ("hour", "h"),
        ("hours", "h"),
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("msec", "ms"),
        ("msecs", "ms"),
        ("millisecond", "ms"),
        ("milliseconds", "ms"),
        ("usec", "us"),
        ("usecs", "us"),
        ("µsec", "us"),
        ("microsecond", "us"),
        ("microseconds", "us"),
        ("nsec", "ns"),
        ("nanosecond", "ns"),
        ("nanoseconds", "ns"),
    ],
    step: "picoseconds",
    most: "18446744s (213 days)",
};

pub(crate) const RATE: Quantity = Quantity {
    noun: "a rate",
    example: "10Mbps",
    usual: Some("Mbps"),
    common: "kbps, Mbps, Gbps",
    units: &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("Kibps", 1 << 10),
        ("Mibps", 1 << 20),
        ("Gibps", 1 << 30),
        ("Kibit", 1 << 10),
        ("Mibit", 1 << 20),
        ("Gibit", 1 << 30),
    ],
    aliases: &[],
    step: "bits per second",
    most: "18446744073Gbps",
};

/// Rates in bytes, which a rate here never is: eight times too slow a link is a costly slip.
const BYTE_RATES: &[(&str, u64)] = &[
    ("Bps", 8),
    ("kBps", 8_000),
    ("KBps", 8_000),
    ("MBps", 8_000_000),
    ("GBps", 8_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("KB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
    ("KiB/s", 8 << 10),
    ("MiB/s", 8 << 20),
    ("GiB/s", 8 << 30),
];

/// Rates by the prefix of their unit, in any case: what is meant by `Mbit/s`, `mbits` or `M`.
const RATE_BY_PREFIX: &[(char, &str)] =
    &[('k', "kbps"), ('m', "Mbps"), ('g', "Gbps"), ('t', "Tbps")];

/// What stands behind the prefix of a rate's unit, in small letters.
const RATE_ENDINGS: &[&str] = &[
    "",
    "b",
    "bps",
    "b/s",
    "b/sec",
    "bit",
    "bits",
    "bit/s",
    "bits/s",
    "bit/sec",
    "bits/sec",
    "bitps",
    "bitsps",
    "bit/second",
    "bits/second",
];

pub(crate) const SIZE: Quantity = Quantity {
    noun: "a size",
    example: "64kB",
    usual: None,
    common: "B, kB, MB, KiB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    aliases: SIZE_ALIASES,
    step: "bytes",
    most: "18446744073GB",
};

const SIZE_ALIASES: &[(&str, &str)] = &[
    ("b", "B"),
    ("byte", "B"),
    ("bytes", "B"),
    ("octets", "B"),
    ("kbytes", "kB"),
    ("Kbytes", "kB"),
    ("Mbytes", "MB"),
    ("k", "kB"),
    ("K", "kB"),
    ("M", "MB"),
    ("G", "GB"),
    ("Ki", "KiB"),
    ("Mi", "MiB"),
    ("Gi", "GiB"),
];

pub(crate) const PACKETS: Quantity = Quantity {
    noun: "a number of packets",
    example: "100p",
    usual: Some("p"),
    common: "p, packets",
    units: &[("p", 1), ("pkt", 1), ("packets", 1), ("packet", 1)],
    aliases: PACKET_ALIASES,
    step: "packets",
    most: "18446744073709551615p",
};

const PACKET_ALIASES: &[(&str, &str)] = &[
    ("pkts", "p"),
    ("pk", "p"),
    ("pckt", "p"),
    ("pckts", "p"),
    ("segments", "p"),
];

/// Bandwidth-delay products.
const PRODUCTS: Quantity = Quantity {
    noun: "a limit",
    example: "1bdp",
    usual: None,
    common: "bdp",
    units: &[("bdp", Bdp::ONE), ("BDP", Bdp::ONE)],
    aliases: &[("Bdp", "bdp"), ("bdps", "bdp"), ("BDPs", "bdp")],
    step: "millionths of a bandwidth-delay product",
    most: "18446744073709bdp",
};

/// Sizes and packets together; which of the two it is, the unit says.
pub(crate) const LIMIT: Quantity = Quantity {
    noun: "a limit",
    example: "100p or 64kB",
    usual: None,
    common: "p, B, kB, ms, bdp",
    units: &[
        ("p", 1),
        ("pkt", 1),
        ("packets", 1),
        ("packet", 1),
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    aliases: SIZE_ALIASES,
    step: "packets or bytes",
    most: "18446744073GB",
};

impl Quantity {
    /// A regular expression (as in JSON Schema) of what is read.
    pub(crate) fn pattern(&self) -> String {
        pattern_of(&[self])
    }

    /// The value of a text in smallest steps.
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let (number, unit) = self.split(text)?;
        if unit.is_empty() {
            let example = match self.usual {
                // So large a number is in the unit below.
                Some("Mbps") if number.parse::<u64>().is_ok_and(|bps| bps >= 100_000) => {
                    let bps = number.parse().map_or(Rate::ZERO, Rate::bps);
                    format!("{bps} ({number}bps)")
                }
                Some(unit) => format!("{number}{unit}"),
                None => self.example.to_owned(),
            };
            let remedy = format!("expected {} such as {example}", self.noun);
            return Err(self.error(UnitErrorKind::MissingUnit, text, remedy));
        }
        match self.units.iter().find(|&&(name, _)| name == unit) {
            Some(&(_, scale)) => self.scaled(text, number, scale),
            None => {
                let remedy = self.unknown_unit(number, unit);
                Err(self.error(UnitErrorKind::UnknownUnit, text, remedy))
            }
        }
    }

    /// The number of a text and what stands behind it.
    fn split<'a>(&self, text: &'a str) -> Result<(&'a str, &'a str), UnitError> {
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix(['-', '−'])
            && rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            let remedy = format!("{} cannot be negative", self.noun);
            return Err(self.error(UnitErrorKind::Negative, text, remedy));
        }
        let end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let (number, rest) = trimmed.split_at(end);
        let unit = rest.trim_start_matches(' ');
        let exponent = unit.strip_prefix(['e', 'E']).is_some_and(|power| {
            power
                .trim_start_matches(['+', '-'])
                .starts_with(|c: char| c.is_ascii_digit())
        });
        if !is_decimal(number) || exponent || unit.starts_with([',', '_', '\'']) {
            return Err(self.error(UnitErrorKind::Malformed, text, self.malformed(trimmed)));
        }
        Ok((number, unit))
    }

    /// A decimal number times `scale`, exactly.
    fn scaled(&self, text: &str, number: &str, scale: u64) -> Result<u64, UnitError> {
        let too_large = || {
            self.error(
                UnitErrorKind::TooLarge,
                text,
                format!("the most is {}", self.most),
            )
        };
        let too_precise = || {
            let remedy = format!("it does not come to a whole number of {}", self.step);
            self.error(UnitErrorKind::TooPrecise, text, remedy)
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // Nothing but digits is in there, so that the only failure is a number past the range.
        let whole: u64 = whole.parse().map_err(|_| too_large())?;
        let fraction = fraction.trim_end_matches('0');
        // No unit has more factors 2 or 5 than GiB, which has 30 of them; more digits cannot come out even.
        if fraction.len() > 30 {
            return Err(too_precise());
        }
        let mut part: u128 = if fraction.is_empty() {
            0
        } else {
            fraction.parse().map_err(|_| too_precise())?
        };
        let mut scale_of_part = widen(scale);
        for _ in 0..fraction.len() {
            for prime in [2, 5] {
                if scale_of_part.is_multiple_of(prime) {
                    scale_of_part /= prime;
                } else if part.is_multiple_of(prime) {
                    part /= prime;
                } else {
                    return Err(too_precise());
                }
            }
        }
        part.checked_mul(scale_of_part)
            .and_then(|part| part.checked_add(widen(whole) * widen(scale)))
            .and_then(|steps| u64::try_from(steps).ok())
            .ok_or_else(too_large)
    }

    /// What to say about a text that does not begin with a number as it is written here.
    fn malformed(&self, text: &str) -> String {
        match self.respelled(text) {
            Some(meant) => format!("write {meant}"),
            None if self.noun == LIMIT.noun && text.eq_ignore_ascii_case("bdp") => {
                "write 1bdp".to_owned()
            }
            None if text.contains("..") => format!("write one value, such as {}", self.example),
            None => format!(
                "write a number (digits, with at most one decimal point between them) and a unit, such as {}",
                self.example
            ),
        }
    }

    /// The same quantity as it is written here, of a number with a sign, a point at its end, or marks between its digits.
    fn respelled(&self, text: &str) -> Option<String> {
        let text = text
            .trim_end_matches([',', ';'])
            .trim_start_matches('+')
            .trim_start();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '_' | '\''))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number = number.replace(['_', '\''], "");
        // A comma before three digits parts thousands; elsewhere it is a decimal comma.
        let number = match number.split_once(',') {
            Some((whole, rest)) if rest.len() == 3 && !whole.is_empty() && whole != "0" => {
                format!("{whole}{rest}")
            }
            Some((whole, rest)) => format!("{whole}.{rest}"),
            None => number,
        };
        let number = number.trim_end_matches('.');
        let number = match number.strip_prefix('.') {
            Some(fraction) => format!("0.{fraction}"),
            None => number.to_owned(),
        };
        let unit = unit.trim();
        let known = self.units.iter().any(|&(name, _)| name == unit);
        (known && is_decimal(&number)).then(|| format!("{number}{unit}"))
    }

    /// What to say about something behind a number that is no unit: the fix first.
    fn unknown_unit(&self, number: &str, unit: &str) -> String {
        if unit == "m" && self.noun != RATE.noun && self.noun != SIZE.noun {
            return format!("write {number}ms or {number}min");
        }
        if unit.contains(|c: char| c.is_ascii_digit()) {
            return format!("write one number and one unit, such as {}", self.example);
        }
        if let Some(meant) = self.meant(unit) {
            let case = match meant.eq_ignore_ascii_case(unit) {
                true => " (upper and lower case matter)",
                false => "",
            };
            return format!("write {number}{meant}{case}");
        }
        let others = [&DURATION, &RATE, &SIZE, &PACKETS];
        let of = |other: &&&Quantity| other.units.iter().any(|&(name, _)| name == unit);
        if let Some(other) = others.iter().find(of) {
            return format!(
                "this is {}; expected {} such as {}",
                other.noun, self.noun, self.example
            );
        }
        format!("unknown unit {unit:?} (common units: {})", self.common)
    }

    /// The unit that was probably meant.
    fn meant(&self, unit: &str) -> Option<&'static str> {
        let bare = unit.trim_end_matches([',', ';', '.']);
        let own = || self.units.iter().map(|&(name, _)| name);
        if let Some(name) = own().find(|name| *name == bare) {
            return Some(name);
        }
        if let Some(&(_, meant)) = self.aliases.iter().find(|&&(alias, _)| alias == bare) {
            return Some(meant);
        }
        if self.noun == LIMIT.noun {
            let others = PACKET_ALIASES
                .iter()
                .chain(PRODUCTS.aliases)
                .chain(DURATION.aliases);
            if let Some(&(_, meant)) = others.into_iter().find(|&&(alias, _)| alias == bare) {
                return Some(meant);
            }
        }
        if self.noun == RATE.noun
            && !bare.contains('B')
            && let Some(meant) = rate_meant(bare)
        {
            return Some(meant);
        }
        if let Some(name) = own().find(|name| name.eq_ignore_ascii_case(bare)) {
            return Some(name);
        }
        // Of units of two letters each is near each.
        let long = bare.chars().count() > 3 && !bare.contains("bit");
        long.then(|| nearest(bare, own())).flatten()
    }

    fn error(&self, kind: UnitErrorKind, text: &str, remedy: String) -> UnitError {
        UnitError::new(kind, text, self.noun, remedy)
    }
}

/// A regular expression (as in JSON Schema) of a number with a unit of any of these quantities.
fn pattern_of(quantities: &[&Quantity]) -> String {
    let units = quantities.iter().flat_map(|quantity| quantity.units);
    let units: Vec<&str> = units.map(|&(unit, _)| unit).collect();
    format!("^[0-9]+(\\.[0-9]+)? *({})$", units.join("|"))
}

/// As [`Quantity::pattern`], of a [`Buffer`].
pub(crate) fn buffer_pattern() -> String {
    pattern_of(&[&LIMIT, &PRODUCTS, &DURATION])
}

/// The rate's unit that is meant by one in another spelling.
fn rate_meant(unit: &str) -> Option<&'static str> {
    let small = unit.to_lowercase();
    if RATE_ENDINGS.contains(&small.as_str()) {
        return Some("bps");
    }
    let first = small.chars().next()?;
    let &(_, meant) = RATE_BY_PREFIX
        .iter()
        .find(|&&(prefix, _)| prefix == first)?;
    RATE_ENDINGS
        .contains(&&small[first.len_utf8()..])
        .then_some(meant)
}

/// Digits, with at most one point between them.
fn is_decimal(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(fraction)
}

/// Digits with an optional point, then an optional power of ten.
pub(crate) fn is_scientific(number: &str) -> bool {
    match number.split_once(['e', 'E']) {
        None => is_decimal(number),
        Some((mantissa, power)) => {
            let power = power.strip_prefix(['+', '-']).unwrap_or(power);
            is_decimal(mantissa) && !power.is_empty() && power.bytes().all(|b| b.is_ascii_digit())
        }
    }
}

/// Units to print in, from the smallest; each ten to some power of the smallest step, which is the exponent.
type Printed = &'static [(&'static str, usize)];

const PRINTED_DURATION: Printed = &[("ns", 3), ("us", 6), ("ms", 9), ("s", 12)];
const PRINTED_RATE: Printed = &[("bps", 0), ("kbps", 3), ("Mbps", 6), ("Gbps", 9)];
const PRINTED_SIZE: Printed = &[("B", 0), ("kB", 3), ("MB", 6), ("GB", 9)];
const PRINTED_BINARY_SIZE: &[(&str, u64)] = &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// The shortest exact text, of equals that with the smallest unit; no unit larger than the value, except the smallest.
fn shortest(steps: u64, units: Printed) -> String {
    exact(steps, units)
        .min_by_key(String::len)
        .unwrap_or_default()
}

/// The exact texts in each unit that is not larger than the value, from the smallest on.
fn exact(steps: u64, units: Printed) -> impl DoubleEndedIterator<Item = String> {
    let digits = steps.to_string();
    units
        .iter()
        .enumerate()
        .filter_map(move |(index, &(unit, power))| {
            if index > 0 && digits.len() <= power {
                return None;
            }
            let padded = format!("{digits:0>width$}", width = power + 1);
            let (whole, fraction) = padded.split_at(padded.len() - power);
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            Some(format!("{whole}{point}{fraction}{unit}"))
        })
}

/// The shortest exact text, of equals that with the largest unit: `1.004s` beside `3.75ms` and `15ms`.
fn duration_text(ps: u64) -> String {
    if ps == 0 {
        return "0s".to_owned();
    }
    let texts = exact(ps, PRINTED_DURATION).rev();
    texts.min_by_key(String::len).unwrap_or_default()
}

fn size_text(bytes: u64) -> String {
    let decimal = shortest(bytes, PRINTED_SIZE);
    PRINTED_BINARY_SIZE
        .iter()
        .filter(|&&(_, scale)| bytes > 0 && bytes.is_multiple_of(scale))
        .map(|&(unit, scale)| format!("{}{unit}", bytes / scale))
        .filter(|binary| binary.len() < decimal.len())
        .min_by_key(String::len)
        .unwrap_or(decimal)
}

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Span, UnitError> {
        DURATION.parse(text).map(Span::from_ps)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&duration_text(self.as_ps()))
    }
}

/// A moment is written as its distance from the start of the run.
impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Time, UnitError> {
        DURATION.parse(text).map(Time::from_ps)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&duration_text(self.as_ps()))
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let (number, unit) = RATE.split(text)?;
        if let Some(&(_, scale)) = BYTE_RATES.iter().find(|&&(name, _)| name == unit) {
            let bits = Rate::bps(RATE.scaled(text, number, scale)?);
            let remedy = format!("rates are in bits per second, not bytes; write {bits}");
            return Err(RATE.error(UnitErrorKind::UnknownUnit, text, remedy));
        }
        if let Some(&(_, scale)) = SIZE.units.iter().find(|&&(name, _)| name == unit)
            && let Some(bits) = RATE.scaled(text, number, scale)?.checked_mul(8)
        {
            let bits = Rate::bps(bits);
            let remedy = format!(
                "rates are in bits per second; write {bits} for {number}{unit} in a second"
            );
            return Err(RATE.error(UnitErrorKind::UnknownUnit, text, remedy));
        }
        RATE.parse(text).map(Rate::bps)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shortest(self.as_bps(), PRINTED_RATE))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        SIZE.parse(text).map(Bytes::new)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&size_text(self.get()))
    }
}

impl FromStr for Packets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Packets, UnitError> {
        PACKETS.parse(text).map(Packets::new)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}p", self.get()))
    }
}

impl FromStr for Limit {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Limit, UnitError> {
        let (_, unit) = LIMIT.split(text)?;
        if of_link(unit) {
            // What is no number of them is wrong before any link.
            text.parse::<Buffer>()?;
            let remedy = "this depends on a link, and there is none here; write packets or bytes, such as 100p or 64kB";
            return Err(LIMIT.error(UnitErrorKind::UnknownUnit, text, remedy.to_owned()));
        }
        let count = LIMIT.parse(text)?;
        if PACKETS.units.iter().any(|&(name, _)| name == unit) {
            Ok(Limit::Packets(Packets::new(count)))
        } else {
            Ok(Limit::Bytes(Bytes::new(count)))
        }
    }
}

/// Whether a unit is one of time, or that of bandwidth-delay products.
fn of_link(unit: &str) -> bool {
    let has = |quantity: &Quantity| quantity.units.iter().any(|&(name, _)| name == unit);
    has(&DURATION) || has(&PRODUCTS)
}

/// A fraction of a bandwidth-delay product, such as `1/2bdp`, as a decimal number, if it is one of at most six digits.
fn decimal_of_fraction(text: &str) -> Option<Bdp> {
    let end = text.len().checked_sub("bdp".len())?;
    let (numbers, unit) = text.split_at_checked(end)?;
    let (above, below) = numbers.split_once('/')?;
    let above: u64 = above.trim().parse().ok()?;
    let below: u64 = below.trim().parse().ok().filter(|below| *below > 0)?;
    let scaled = above.checked_mul(Bdp::ONE)?;
    (unit.eq_ignore_ascii_case("bdp") && scaled > 0 && scaled.is_multiple_of(below))
        .then(|| Bdp::from_millionths(scaled / below))
}

impl FromStr for Buffer {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Buffer, UnitError> {
        let (number, unit) = LIMIT.split(text)?;
        if let Some(meant) = decimal_of_fraction(text) {
            let remedy = format!("write {meant}");
            return Err(LIMIT.error(UnitErrorKind::Malformed, text, remedy));
        }
        let scale = |quantity: &Quantity| {
            let found = quantity.units.iter().find(|&&(name, _)| name == unit);
            found.map(|&(_, scale)| scale)
        };
        if let Some(scale) = scale(&DURATION) {
            let ps = DURATION.scaled(text, number, scale)?;
            return Ok(Buffer::Time(Span::from_ps(ps)));
        }
        if let Some(scale) = scale(&PRODUCTS) {
            let millionths = PRODUCTS.scaled(text, number, scale)?;
            return Ok(Buffer::Bdp(Bdp::from_millionths(millionths)));
        }
        text.parse().map(Buffer::Limit)
    }
}

impl fmt::Display for Bdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = self.as_millionths();
        let fraction = format!("{:06}", millionths % Bdp::ONE);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        f.pad(&format!("{}{point}{fraction}bdp", millionths / Bdp::ONE))
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::Limit(limit) => limit.fmt(f),
            Buffer::Time(time) => time.fmt(f),
            Buffer::Bdp(products) => products.fmt(f),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(packets) => packets.fmt(f),
            Limit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// A regular expression of what is read as a [`Ratio`]; that it lies within 0 and 1 is beyond it.
pub(crate) const RATIO_PATTERN: &str =
    "^([0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?|[0-9]+(\\.[0-9]+)? *%)$";

impl FromStr for Ratio {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Ratio, UnitError> {
        let error = |kind, remedy: &str| UnitError::new(kind, text, "a fraction", remedy);
        let trimmed = text.trim();
        let (unsigned, negative) = match trimmed.strip_prefix(['-', '−']) {
            Some(unsigned) => (unsigned, true),
            None => (trimmed, false),
        };
        let percent = unsigned
            .strip_suffix('%')
            .map(|number| number.trim_end_matches(' '));
        let well_formed = match percent {
            Some(number) => is_decimal(number),
            None => is_scientific(unsigned),
        };
        // Moving the point in the text, not dividing, gives the float nearest to what is written.
        let shifted = percent.map_or_else(|| unsigned.to_owned(), |number| format!("{number}e-2"));
        let value = match shifted.parse::<f64>() {
            Ok(value) if well_formed => value,
            _ => {
                let remedy = "write a number from 0 to 1 or a percentage, such as 0.1 or 10%";
                return Err(error(UnitErrorKind::Malformed, remedy));
            }
        };
        if negative {
            return Err(error(
                UnitErrorKind::Negative,
                "a fraction cannot be negative",
            ));
        }
        Ratio::new(value).ok_or_else(|| {
            let mut remedy = "it lies between 0 and 1 (0% and 100%)".to_owned();
            if percent.is_none() && value <= 100.0 {
                remedy = format!("{remedy}; did you mean {unsigned}%?");
            }
            error(UnitErrorKind::TooLarge, &remedy)
        })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.get().to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(text: &str) -> Result<Span, UnitError> {
        text.parse()
    }

    fn remedy<T: FromStr<Err = UnitError> + fmt::Debug>(text: &str) -> (UnitErrorKind, String) {
        let error = text.parse::<T>().unwrap_err();
        assert_eq!(error.given(), text);
        (error.kind(), error.remedy().to_owned())
    }

    #[test]
    fn every_unit_of_time_is_read_with_and_without_a_space() {
        for (text, expected) in [
            ("7ns", Span::from_ns(7)),
            ("7 us", Span::from_us(7)),
            ("7\u{b5}s", Span::from_us(7)),
            ("7 \u{3bc}s", Span::from_us(7)),
            ("7ps", Span::from_ps(7)),
            ("7ms", Span::from_ms(7)),
            ("7 s", Span::from_secs(7)),
            ("7min", Span::from_secs(420)),
            ("7 h", Span::from_secs(25_200)),
            (" 7ms ", Span::from_ms(7)),
            ("007.50ms", Span::from_us(7_500)),
        ] {
            assert_eq!(span(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_unit_of_rate_is_read() {
        for (text, bps) in [
            ("9bps", 9),
            ("9kbps", 9_000),
            ("1.5 Mbps", 1_500_000),
            ("9Gbps", 9_000_000_000),
            ("1.6Tbps", 1_600_000_000_000),
            ("9Tbit", 9_000_000_000_000),
            ("9bit", 9),
            ("9kbit", 9_000),
            ("9Mbit", 9_000_000),
            ("9Gbit", 9_000_000_000),
            ("9Kibit", 9_216),
            ("9Mibps", 9_437_184),
        ] {
            assert_eq!(text.parse(), Ok(Rate::bps(bps)), "{text}");
        }
    }

    #[test]
    fn every_unit_of_size_and_packets_is_read() {
        for (text, bytes) in [
            ("1500 B", 1_500),
            ("64kB", 64_000),
            ("2MB", 2_000_000),
            ("64KiB", 65_536),
            ("0.5MiB", 524_288),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
            assert_eq!(text.parse(), Ok(Limit::Bytes(Bytes::new(bytes))), "{text}");
        }
        for text in ["50p", "50 pkt", "50 packets", "50packet"] {
            assert_eq!(text.parse(), Ok(Packets::new(50)), "{text}");
            assert_eq!(text.parse(), Ok(Limit::Packets(Packets::new(50))), "{text}");
        }
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(span("0.001ns"), Ok(Span::from_ps(1)));
        assert_eq!(
            span("1.000000000001s"),
            Ok(Span::from_ps(1_000_000_000_001))
        );
        assert_eq!("1.1Mbps".parse(), Ok(Rate::bps(1_100_000)));
        assert_eq!(
            "0.000000000931322574615478515625GiB".parse(),
            Ok(Bytes::new(1))
        );
        assert_eq!(
            span("0.1000000000000000000000000000000000000000s"),
            Ok(Span::from_ms(100))
        );
    }

    #[test]
    fn a_limit_past_the_range_is_too_large_with_or_without_a_link() {
        for text in ["99999999s", "99999999999999999999bdp"] {
            assert_eq!(remedy::<Limit>(text).0, UnitErrorKind::TooLarge, "{text}");
            assert_eq!(remedy::<Buffer>(text).0, UnitErrorKind::TooLarge, "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_an_example_of_a_unit() {
        use UnitErrorKind::MissingUnit;
        assert_eq!(
            remedy::<Span>("5"),
            (MissingUnit, "expected a duration such as 5ms".into())
        );
        assert_eq!(remedy::<Time>("0").0, MissingUnit);
        assert_eq!(
            remedy::<Rate>("10"),
            (MissingUnit, "expected a rate such as 10Mbps".into())
        );
        assert_eq!(
            remedy::<Rate>("10000000").1,
            "expected a rate such as 10Mbps (10000000bps)"
        );
        assert_eq!(
            remedy::<Bytes>("64"),
            (MissingUnit, "expected a size such as 64kB".into())
        );
        assert_eq!(
            remedy::<Packets>("50"),
            (
                MissingUnit,
                "expected a number of packets such as 50p".into()
            )
        );
        assert_eq!(
            remedy::<Limit>("50"),
            (MissingUnit, "expected a limit such as 100p or 64kB".into())
        );
    }

    #[test]
    fn a_near_miss_of_a_unit_is_answered_with_the_value_to_write() {
        let rates = [
            ("10mbps", "10Mbps"),
            ("10 MBIT", "10Mbit"),
            ("10Mb/s", "10Mbps"),
            ("10Mbit/s", "10Mbps"),
            ("10Mbits/s", "10Mbps"),
            ("10 mbits", "10Mbps"),
            ("10Mbits/sec", "10Mbps"),
            ("10 M", "10Mbps"),
            ("1.5G", "1.5Gbps"),
            ("500 kbit/s", "500kbps"),
            ("9600 bits/s", "9600bps"),
            ("10Mbps,", "10Mbps"),
            ("50Mpbs", "50Mbps"),
        ];
        let spans = [
            ("5MS", "5ms"),
            ("5 sec", "5s"),
            ("40000usec", "40000us"),
            ("5msec", "5ms"),
            ("1.5 seconds", "1.5s"),
            ("5S", "5s"),
            ("5ms,", "5ms"),
        ];
        let sizes = [
            ("64KB", "64kB"),
            ("64kb", "64kB"),
            ("64k", "64kB"),
            ("64 bytes", "64B"),
        ];
        assert_eq!(remedy::<Span>("5m").1, "write 5ms or 5min");
        assert_eq!(remedy::<Limit>("50m").1, "write 50ms or 50min");
        for text in ["40ms-80ms", "1min30s", "00:01:00"] {
            let one = "write one number and one unit, such as 5ms";
            assert_eq!(remedy::<Span>(text).1, one, "{text}");
        }
        assert_eq!(remedy::<Span>("10..20ms").1, "write one value, such as 5ms");
        assert_eq!(remedy::<Buffer>("bdp").1, "write 1bdp");
        assert_eq!(remedy::<Buffer>("1/2bdp").1, "write 0.5bdp");
        let limits = [
            ("100pkts", "100p"),
            ("50 msec", "50ms"),
            ("2BDPs", "2bdp"),
            ("100P", "100p"),
            ("64KB", "64kB"),
        ];
        let check = |(kind, remedy): (UnitErrorKind, String), (text, meant): (&str, &str)| {
            assert_eq!(kind, UnitErrorKind::UnknownUnit, "{text}");
            let words = remedy.split(" (").next();
            assert_eq!(words, Some(&*format!("write {meant}")), "{text}");
        };
        for case in rates {
            check(remedy::<Rate>(case.0), case);
        }
        for case in spans {
            check(remedy::<Span>(case.0), case);
        }
        for case in sizes {
            check(remedy::<Bytes>(case.0), case);
        }
        for case in limits {
            check(remedy::<Limit>(case.0), case);
            check(remedy::<Buffer>(case.0), case);
        }
        assert!(
            remedy::<Rate>("10mbps")
                .1
                .ends_with("(upper and lower case matter)")
        );
    }

    #[test]
    fn an_unknown_unit_is_answered_with_the_common_ones() {
        assert_eq!(
            remedy::<Span>("5 parsecs").1,
            "unknown unit \"parsecs\" (common units: us, ms, s, min)"
        );
        // Units of two letters are near to each other, and mean something else.
        assert_eq!(
            remedy::<Bytes>("5ms").1,
            "this is a duration; expected a size such as 64kB"
        );
        assert_eq!(
            remedy::<Span>("10Mbps").1,
            "this is a rate; expected a duration such as 5ms"
        );
        assert_eq!(
            remedy::<Rate>("5p").1,
            "this is a number of packets; expected a rate such as 10Mbps"
        );
    }

    #[test]
    fn a_number_in_another_spelling_is_answered_with_the_value_to_write() {
        for (text, meant) in [
            ("1,5ms", "1.5ms"),
            ("1_000ms", "1000ms"),
            ("1,500ms", "1500ms"),
            (".5ms", "0.5ms"),
            ("5.ms", "5ms"),
            ("+5ms", "5ms"),
        ] {
            assert_eq!(remedy::<Span>(text).1, format!("write {meant}"), "{text}");
        }
        for text in ["", "ms", "five ms", "1.2.3ms", "1e3ms"] {
            assert!(
                remedy::<Span>(text).1.starts_with("write a number"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_limit_of_a_link_is_read_as_a_buffer_and_never_advised_to_be_bytes() {
        for (text, printed) in [
            ("50ms", "50ms"),
            ("1bdp", "1bdp"),
            ("0.25 BDP", "0.25bdp"),
            ("2.50bdp", "2.5bdp"),
            ("100 packets", "100p"),
            ("64KiB", "64KiB"),
        ] {
            let buffer: Buffer = text.parse().expect(text);
            assert_eq!(buffer.to_string(), printed);
            assert_eq!(printed.parse(), Ok(buffer));
        }
        for text in ["50ms", "1bdp"] {
            let (_, remedy) = remedy::<Limit>(text);
            assert!(remedy.starts_with("this depends on a link"), "{remedy}");
        }
        assert_eq!(
            remedy::<Buffer>("0.0000001bdp").1,
            "it does not come to a whole number of millionths of a bandwidth-delay product"
        );
        assert_eq!(
            remedy::<Buffer>("50").1,
            "expected a limit such as 100p or 64kB"
        );
    }

    #[test]
    fn a_rate_in_bytes_is_refused_with_the_rate_in_bits() {
        assert_eq!(
            remedy::<Rate>("2MBps"),
            (
                UnitErrorKind::UnknownUnit,
                "rates are in bits per second, not bytes; write 16Mbps".into()
            )
        );
    }

    #[test]
    fn negative_values_have_their_own_text() {
        use UnitErrorKind::Negative;
        assert_eq!(
            remedy::<Span>("-5ms"),
            (Negative, "a duration cannot be negative".into())
        );
        assert_eq!(
            remedy::<Rate>("\u{2212}5Mbps"),
            (Negative, "a rate cannot be negative".into())
        );
        assert_eq!(
            remedy::<Limit>("-5p"),
            (Negative, "a limit cannot be negative".into())
        );
        assert_eq!(
            remedy::<Ratio>("-0.5"),
            (Negative, "a fraction cannot be negative".into())
        );
    }

    #[test]
    fn absurd_values_have_their_own_text() {
        use UnitErrorKind::TooLarge;
        assert_eq!(
            remedy::<Span>("300000 h"),
            (TooLarge, "the most is 18446744s (213 days)".into())
        );
        assert_eq!(remedy::<Bytes>("18446744073709551616B").0, TooLarge);
        assert_eq!(remedy::<Rate>("99999999999999999999999Gbps").0, TooLarge);
        assert_eq!(remedy::<Ratio>("1e400").0, TooLarge);
        assert_eq!(span("18446744.073709551615s"), Ok(Span::MAX));
    }

    #[test]
    fn more_precision_than_the_smallest_step_is_refused() {
        use UnitErrorKind::TooPrecise;
        let finest = "it does not come to a whole number of picoseconds";
        assert_eq!(remedy::<Span>("0.0001ns"), (TooPrecise, finest.into()));
        assert_eq!(
            remedy::<Span>("1.0000000000000000000000000000000000001h").0,
            TooPrecise
        );
        assert_eq!(remedy::<Rate>("1.5bps").0, TooPrecise);
        assert_eq!(remedy::<Bytes>("1.0005kB").0, TooPrecise);
        assert_eq!(remedy::<Packets>("1.5p").0, TooPrecise);
    }

    #[test]
    fn what_is_no_number_is_malformed() {
        for text in [
            "", " ", "ms", "five ms", ".5ms", "5.ms", "1.2.3ms", "1,5ms", "1_000ms", "1e3ms",
            "1e-3 ms", "+5ms",
        ] {
            assert_eq!(remedy::<Span>(text).0, UnitErrorKind::Malformed, "{text}");
        }
        for text in [
            "", "%", "x", "nan", "inf", "0.1.2", ".5", "1e", "1e2%", "0x1", "10 p",
        ] {
            assert_eq!(remedy::<Ratio>(text).0, UnitErrorKind::Malformed, "{text}");
        }
    }

    #[test]
    fn fractions_are_read_as_numbers_or_percentages() {
        for (text, value) in [
            ("0.1", 0.1),
            ("10%", 0.1),
            ("0.7 %", 0.007),
            ("1e-3", 0.001),
            ("0", 0.0),
            ("100%", 1.0),
        ] {
            assert_eq!(text.parse::<Ratio>().map(Ratio::get), Ok(value), "{text}");
        }
        assert_eq!(
            remedy::<Ratio>("10").1,
            "it lies between 0 and 1 (0% and 100%); did you mean 10%?"
        );
        assert_eq!(
            remedy::<Ratio>("150%").1,
            "it lies between 0 and 1 (0% and 100%)"
        );
    }

    #[test]
    fn values_print_as_one_would_write_them() {
        for (text, value) in [
            ("5ms", Span::from_ms(5)),
            ("200ms", Span::from_ms(200)),
            ("1.5s", Span::from_ms(1500)),
            ("60s", Span::from_secs(60)),
            ("0.001ns", Span::from_ps(1)),
            ("0s", Span::ZERO),
        ] {
            assert_eq!(value.to_string(), text);
        }
        for (given, text) in [("3750us", "3.75ms"), ("1004ms", "1.004s")] {
            let span = given.parse::<Span>();
            assert_eq!(span.map(|span| span.to_string()), Ok(text.to_owned()));
        }
        for (text, value) in [
            ("1.5Mbps", Rate::kbps(1500)),
            ("100kbps", Rate::kbps(100)),
            ("10Gbps", Rate::gbps(10)),
            ("1234567bps", Rate::bps(1_234_567)),
            ("0bps", Rate::ZERO),
        ] {
            assert_eq!(value.to_string(), text);
        }
        for (text, value) in [
            ("64kB", 64_000),
            ("1500B", 1_500),
            ("64KiB", 65_536),
            ("1514B", 1_514),
            ("0B", 0),
        ] {
            assert_eq!(Bytes::new(value).to_string(), text);
        }
        assert_eq!(Limit::Packets(Packets::new(100)).to_string(), "100p");
        assert_eq!(
            "10%".parse::<Ratio>().map(|ratio| ratio.to_string()),
            Ok("0.1".to_owned())
        );
        assert_eq!(format!("[{:>6}]", Span::from_ms(5)), "[   5ms]");
        assert_eq!((Time::ZERO + Span::from_ms(5)).to_string(), "5ms");
    }

    /// Numbers of every length, round ones among them: uniform ones are all twenty digits long.
    fn steps() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64_u32, 0..20_u32).prop_map(|(bits, shift, power)| {
            (bits >> shift)
                .checked_mul(10_u64.pow(power))
                .unwrap_or(bits >> shift)
        })
    }

    /// Texts drawn from a pattern, which the generator wants without its anchors.
    fn drawn_from(pattern: &str) -> impl Strategy<Value = String> + use<> {
        let inner = pattern.trim_start_matches('^').trim_end_matches('$');
        // Short numbers: a long one may be past the range, which a pattern cannot express.
        let inner = inner.replace("]+", "]{1,2}").replace(" *", " {0,2}");
        proptest::string::string_regex(&inner).expect("a pattern that the generator knows")
    }

    fn is_form_error<T>(result: &Result<T, UnitError>) -> bool {
        use UnitErrorKind::{TooLarge, TooPrecise};
        result
            .as_ref()
            .is_err_and(|error| !matches!(error.kind(), TooLarge | TooPrecise))
    }

    proptest! {
        #[test]
        fn every_text_that_a_pattern_allows_is_well_formed(
            duration in drawn_from(&DURATION.pattern()),
            rate in drawn_from(&RATE.pattern()),
            size in drawn_from(&SIZE.pattern()),
            packets in drawn_from(&PACKETS.pattern()),
            limit in drawn_from(&buffer_pattern()),
            ratio in drawn_from(RATIO_PATTERN),
        ) {
            prop_assert!(!is_form_error(&duration.parse::<Span>()), "{}", duration);
            prop_assert!(!is_form_error(&rate.parse::<Rate>()), "{}", rate);
            prop_assert!(!is_form_error(&size.parse::<Bytes>()), "{}", size);
            prop_assert!(!is_form_error(&packets.parse::<Packets>()), "{}", packets);
            prop_assert!(!is_form_error(&limit.parse::<Buffer>()), "{}", limit);
            prop_assert!(!is_form_error(&ratio.parse::<Ratio>()), "{}", ratio);
        }

        #[test]
        fn what_is_printed_reads_back_to_the_same_value(steps in steps(), part in 0.0..=1.0_f64) {
            prop_assert_eq!(Span::from_ps(steps).to_string().parse(), Ok(Span::from_ps(steps)));
            prop_assert_eq!(Time::from_ps(steps).to_string().parse(), Ok(Time::from_ps(steps)));
            prop_assert_eq!(Rate::bps(steps).to_string().parse(), Ok(Rate::bps(steps)));
            prop_assert_eq!(Bytes::new(steps).to_string().parse(), Ok(Bytes::new(steps)));
            prop_assert_eq!(Packets::new(steps).to_string().parse(), Ok(Packets::new(steps)));
            for limit in [Limit::Packets(Packets::new(steps)), Limit::Bytes(Bytes::new(steps))] {
                prop_assert_eq!(limit.to_string().parse(), Ok(limit));
            }
            let ratio = Ratio::new(part).unwrap_or_default();
            prop_assert_eq!(ratio.to_string().parse(), Ok(ratio));
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "\\PC*|[-0-9. a-zA-Zµ%/]{0,12}|[0-9]{0,40}\\.[0-9]{0,40} ?(h|GiB|Gbps|p|%)") {
            let _ = (text.parse::<Span>(), text.parse::<Rate>(), text.parse::<Bytes>());
            let _ = text.parse::<Buffer>();
            let _ = (text.parse::<Packets>(), text.parse::<Limit>(), text.parse::<Ratio>());
        }
    }
}
