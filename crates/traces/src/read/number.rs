//! Numbers out of bytes, without a text between: what a reader of millions of lines needs.

use sojourn_units::Time;

/// Picoseconds of a second, as a power of ten.
const PS_DIGITS: i32 = 12;
/// More digits than a `u64` surely holds are left out of the mantissa; they are below a picosecond.
const MOST_DIGITS: u32 = 19;

/// A whole number; `None` for anything else and for what a `u64` does not hold.
#[inline]
pub fn integer(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A time in seconds, decimal or with an exponent, to the nearest picosecond; `None` for anything else, for what is below zero and
/// for what is beyond the range of [`Time`].
#[inline]
pub fn seconds(bytes: &[u8]) -> Option<Time> {
    let (mut value, mut digits, mut scale) = (0u64, 0u32, 0i32);
    let (mut any, mut point) = (false, false);
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            any = true;
            if digits < MOST_DIGITS {
                value = value * 10 + u64::from(digit);
                digits += u32::from(value > 0);
                scale -= i32::from(point);
            } else {
                scale += i32::from(!point);
            }
        } else if *byte == b'.' && !point {
            point = true;
        } else {
            break;
        }
        rest = tail;
    }
    if !any {
        return None;
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        scale = scale.checked_add(exponent(tail)?)?;
    } else if !rest.is_empty() {
        return None;
    }
    scaled(value, scale + PS_DIGITS).map(Time::from_ps)
}

fn exponent(bytes: &[u8]) -> Option<i32> {
    let (sign, digits) = match bytes {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    // Beyond that, every value is out of range or zero.
    let value = integer(digits)?.min(1000);
    Some(sign * i32::try_from(value).ok()?)
}

/// `value` times ten to the power of `scale`, to the nearest whole number.
fn scaled(value: u64, scale: i32) -> Option<u64> {
    if value == 0 {
        return Some(0);
    }
    match u32::try_from(scale) {
        Ok(up) => value.checked_mul(10u64.checked_pow(up)?),
        Err(_) => match 10u64.checked_pow(scale.unsigned_abs()) {
            Some(divisor) => Some(value / divisor + u64::from(value % divisor >= divisor / 2)),
            None => Some(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_read_as_c_prints_them() {
        let read = |text: &str| seconds(text.as_bytes()).map(Time::as_ps);
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("12.5"), Some(12_500_000_000_000));
        assert_eq!(read("0.277456"), Some(277_456_000_000));
        assert_eq!(read("1e-06"), Some(1_000_000));
        assert_eq!(read("3.2e-05"), Some(32_000_000));
        assert_eq!(read("1.5E+02"), Some(150_000_000_000_000));
        assert_eq!(read("0.0000000000005"), Some(1));
        assert_eq!(read("0.00000000000049"), Some(0));
        assert_eq!(read("1e-400"), Some(0));
        assert_eq!(read(".5"), Some(500_000_000_000));
        assert_eq!(
            read("000000000000000000000000001.0"),
            Some(1_000_000_000_000)
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", ".", "-1", "+1", "1.2.3", "1e", "1e+", "1s", "nan", "inf", "1e30", "0x1", " 1",
        ] {
            assert_eq!(seconds(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_refused() {
        assert_eq!(integer(b"18446744073709551615"), Some(u64::MAX));
        for text in ["", "18446744073709551616", "-1", "1.0", "1 ", "a"] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn picoseconds_survive_being_printed(ps in 0u64..u64::MAX / 2) {
            let text = format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000);
            // Digits beyond the 19th are left out.
            let error = 10u64.pow(u32::try_from(text.len().saturating_sub(20)).unwrap());
            let read = seconds(text.as_bytes()).unwrap().as_ps();
            prop_assert!(read.abs_diff(ps) <= error, "{} read as {}", text, read);
        }

        #[test]
        fn any_bytes_read_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = seconds(&bytes);
            let _ = integer(&bytes);
        }
    }
}
