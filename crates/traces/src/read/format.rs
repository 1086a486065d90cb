//! The formats, and which one a file has. Each is a file, and a line below.

use super::event::Grammar;
use super::form::{Content, Form, Layout};
use super::input::{Fault, Input, excerpt};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Declares the modules of the formats, and which there are, in the order in which they are listed.
macro_rules! formats {
    ($($file:ident :: $Format:ident,)*) => {
        $(pub mod $file;)*

        /// A format of traces.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Format {
            $(
                #[doc = concat!("`", stringify!($file), "`; the head of its file says what it has.")]
                $Format,
            )*
        }

        impl Format {
            /// Every format.
            pub const ALL: [Format; [$(Format::$Format,)*].len()] = [$(Format::$Format,)*];

            /// What it is.
            pub fn form(self) -> &'static Form {
                match self {
                    $(Format::$Format => &$file::FORM,)*
                }
            }
        }
    };
}

formats! {
    ns2::Ns2,
    ns3::Ns3,
    pcap::Pcap,
    pcapng::Pcapng,
}

/// What can be learned from a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// What happened to each packet at each queue.
    Events,
    /// What passed one point.
    Capture,
}

impl Format {
    /// The name, as options have it.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// The names of all.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }

    /// The name, as text has it.
    pub fn title(self) -> &'static str {
        self.form().title
    }

    /// What can be learned from it.
    pub fn family(self) -> Family {
        match self.form().content {
            Content::Events(_) => Family::Events,
            Content::Capture(_) => Family::Capture,
        }
    }

    /// The grammar of its lines, if it is an event trace.
    pub(super) fn grammar(self) -> Option<Box<dyn Grammar>> {
        match self.form().content {
            Content::Events(grammar) => Some(grammar()),
            Content::Capture(_) => None,
        }
    }

    /// How packets lie in it, if it is a capture.
    pub(super) fn layout(self) -> Option<Layout> {
        match self.form().content {
            Content::Events(_) => None,
            Content::Capture(layout) => Some(layout),
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    /// If there is none of that name; `option` is what it was given as.
    pub fn parse(given: &str, option: &str) -> Result<Format> {
        let names = Format::ALL.map(Format::name);
        let found = Format::ALL
            .into_iter()
            .find(|format| format.name() == given);
        found.ok_or_else(|| {
            LabError::new(
                LabErrorKind::UnknownName,
                format!("there is no trace format {given:?}"),
            )
            .in_file(option)
            .nearest(sojourn_units::nearest(given, names))
            .allowed("formats", names.join(", "))
        })
    }
}

/// The format that was asked for, or the one that the content has.
///
/// # Errors
/// If none was asked for and the content has none.
pub fn choose(input: &Input, asked: Option<Format>) -> Result<Format> {
    if let Some(format) = asked {
        return Ok(format);
    }
    find(input.head()).map_err(|fault| {
        LabError::new(LabErrorKind::Syntax, fault.problem)
            .in_file(input.name())
            .allowed("formats", Format::names())
            .remedy(fault.remedy)
    })
}

/// How files begin that are compressed in a way that is not read here, by what, and what unpacks them.
const PACKED: [(&[u8], &str, &str); 4] = [
    (
        &[0x28, 0xb5, 0x2f, 0xfd],
        "zstd",
        "unpack it: zstd -dc FILE | sojourn trace analyse -",
    ),
    (
        &[0xfd, b'7', b'z', b'X', b'Z', 0],
        "xz",
        "unpack it: xz -dc FILE | sojourn trace analyse -",
    ),
    (
        b"BZh",
        "bzip2",
        "unpack it: bzip2 -dc FILE | sojourn trace analyse -",
    ),
    (
        &[0x04, 0x22, 0x4d, 0x18],
        "lz4",
        "unpack it: lz4 -dc FILE | sojourn trace analyse -",
    ),
];

/// The format that a file with this beginning has, or what it is instead, and what to do.
pub fn find(head: &[u8]) -> Result<Format, Fault> {
    let begins = |format: &Format| format.form().begins.iter().any(|own| head.starts_with(own));
    if let Some(format) = Format::ALL.into_iter().find(begins) {
        return Ok(format);
    }
    if head.starts_with(b"PAR1") {
        return Err(Fault {
            problem: "this is a Parquet file, which cannot be analysed".to_owned(),
            remedy: "write the trace with --trace ns2-exact or --trace pcapng",
        });
    }
    if let Some((_, program, remedy)) = PACKED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(Fault {
            problem: format!(
                "this file is compressed with {program}; only gzip and plain files can be read"
            ),
            remedy,
        });
    }
    let mut seen = None;
    for line in head.split(|byte| *byte == b'\n').take(100) {
        let fields: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty())
            .collect();
        if fields.len() < 3 {
            continue;
        }
        seen.get_or_insert(line);
        if let Some((problem, remedy)) = foreign(&fields) {
            return Err(Fault {
                problem: problem.to_owned(),
                remedy,
            });
        }
        let has_line = |format: &Format| (format.form().has_line)(&fields);
        if let Some(format) = Format::ALL.into_iter().find(has_line) {
            return Ok(format);
        }
    }
    Err(Fault {
        problem: format!(
            "unknown trace format: the file begins with {}",
            excerpt(seen.unwrap_or(head))
        ),
        remedy: "if it is one of these formats, name it with --trace-format",
    })
}

/// What a line is of that looks like one of a format that is read, and is not; and what to do.
fn foreign(fields: &[&[u8]]) -> Option<(&'static str, &'static str)> {
    let letter = fields[0].len() == 1;
    if letter && fields[1] == b"-t" {
        return Some((
            "this is a nam trace, or an ns-2 trace in the new wireless format",
            "see a nam trace with: sojourn play FILE; for an analysis, write the trace with --trace ns2-exact",
        ));
    }
    (letter && fields[2].starts_with(b"_")).then_some(("this is a wireless trace of ns-2", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_content() {
        let find = |head: &[u8]| super::find(head);
        assert_eq!(find(&[0x4d, 0x3c, 0xb2, 0xa1, 2, 0]), Ok(Format::Pcap));
        assert_eq!(find(&[0x0a, 0x0d, 0x0d, 0x0a, 28]), Ok(Format::Pcapng));
        let line = b"v 0 eval {set sim_annotation {start}}\n+ 0 2 0 tcp 40 ------- 1 2.0 3.0 0 0\n";
        assert_eq!(find(line), Ok(Format::Ns2));
        let line = b"+ 2 /NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/TxQueue/Enqueue x\n";
        assert_eq!(find(line), Ok(Format::Ns3));
        // As long as a line of ns-2.
        let line = b"+ 0.1 /NodeList/0/DeviceList/1/$ns3::PointToPointNetDevice/TxQueue/Enqueue ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 ttl 64)\n";
        assert_eq!(find(line), Ok(Format::Ns3));
    }

    #[test]
    fn foreign_files_are_told_what_they_are() {
        for (head, what) in [
            (&b"+ -t 0.0 -s 0 -d 1 -p tcp -e 40\n"[..], "nam"),
            (b"s 10.0 _0_ RTR  --- 0 message 32\n", "wireless"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"\x28\xb5\x2f\xfd\x04", "zstd"),
            (b"hello, this is a letter\n", "hello"),
            (b"\x7fELF\x02\x01", "ELF"),
        ] {
            let problem = find(head).unwrap_err().problem;
            assert!(problem.contains(what), "{problem}");
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let error = Format::parse("pcapn", "--trace-format").unwrap_err();
        assert!(matches!(error.meant(), Some("pcap" | "pcapng")), "{error}");
    }
}
