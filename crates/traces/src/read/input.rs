//! The bytes of a trace: plain or gzip, read in chunks, with the position for messages.

use flate2::read::MultiGzDecoder;
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Bytes asked for at a time.
const CHUNK: usize = 1 << 18;
/// Bytes of the beginning that the format is found by.
const HEAD: usize = 4096;
/// A text line, or a block of a capture, that is longer is refused: its memory would not be bounded.
pub const LONGEST: usize = 1 << 24;
/// Messages that are kept of what was skipped.
const KEPT: usize = 5;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// What stands for standard input where a file is asked for.
pub const STANDARD_INPUT: &str = "-";

/// What is wrong at one place of a trace; the reader adds the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What is wrong.
    pub problem: String,
    /// What to do about it; may be empty.
    pub remedy: &'static str,
}

impl Fault {
    /// A fault without a remedy of its own.
    pub fn new(problem: impl Into<String>) -> Fault {
        Fault {
            problem: problem.into(),
            remedy: "",
        }
    }
}

/// A place of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// A line.
    Line(usize),
    /// Behind a number of bytes, after decompression.
    Byte(u64),
}

/// What was skipped of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// Lines, packets or remainders that were skipped.
    pub count: u64,
    /// The first few, as their errors would have said.
    pub first: Vec<String>,
}

/// A stream of bytes with a name and a position.
pub struct Input {
    name: String,
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were taken.
    start: usize,
    /// Bytes of the buffer that are there.
    end: usize,
    /// Bytes taken before the buffer.
    before: u64,
    ended: bool,
    line: usize,
    lenient: bool,
    gzip: bool,
    skipped: Skipped,
}

impl Input {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be opened or read, or is empty.
    pub fn open(path: &Path, lenient: bool) -> Result<Input> {
        if path == Path::new(STANDARD_INPUT) {
            return Input::new(std::io::stdin(), "standard input", lenient);
        }
        let failed = |error: &std::io::Error| LabError::io(path, "read the trace", error);
        let file = File::open(path).map_err(|error| failed(&error))?;
        if file.metadata().map_err(|error| failed(&error))?.is_dir() {
            return Err(failed(&std::io::ErrorKind::IsADirectory.into()));
        }
        Input::new(file, &path.display().to_string(), lenient)
    }

    /// Reads from anything, called `name` in messages.
    ///
    /// # Errors
    /// When it cannot be read or is empty.
    pub fn new(source: impl Read + Send + 'static, name: &str, lenient: bool) -> Result<Input> {
        let mut source = BufReader::new(source);
        let magic = {
            use std::io::BufRead as _;
            let head = source.fill_buf();
            let head = head.map_err(|error| unreadable(name, &error))?;
            head.starts_with(&GZIP_MAGIC)
        };
        let source: Box<dyn Read + Send> = match magic {
            true => Box::new(MultiGzDecoder::new(source)),
            false => Box::new(source),
        };
        let mut input = Input {
            name: name.to_owned(),
            source,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            before: 0,
            ended: false,
            line: 0,
            lenient,
            gzip: magic,
            skipped: Skipped {
                file: name.to_owned(),
                ..Skipped::default()
            },
        };
        input.fill(HEAD)?;
        if input.end == 0 {
            let problem = match input.skipped.count {
                0 => "the trace is empty",
                _ => "the compressed data is damaged or cut off, and nothing can be read",
            };
            return Err(LabError::new(LabErrorKind::Syntax, problem)
                .in_file(name)
                .remedy(
                    "check that the program that wrote it ended normally and flushed the file",
                ));
        }
        Ok(input)
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes, before anything was taken.
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + HEAD)]
    }

    /// Bytes taken so far, after decompression.
    pub fn position(&self) -> u64 {
        self.before + widened(self.start)
    }

    /// Lines taken so far.
    pub fn lines(&self) -> usize {
        self.line
    }

    /// How much was skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.count
    }

    /// What was skipped.
    pub fn into_skipped(self) -> Skipped {
        self.skipped
    }

    /// Makes sure that `wanted` bytes lie in the buffer, or all that there are; gives how many do.
    ///
    /// # Errors
    /// When the file cannot be read on, unless lenient, where it ends there.
    pub fn fill(&mut self, wanted: usize) -> Result<usize> {
        while self.end - self.start < wanted && !self.ended {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.before += widened(self.start);
                self.end -= self.start;
                self.start = 0;
            }
            let room = (self.end + CHUNK).max(wanted);
            if self.buffer.len() < room {
                self.buffer.resize(room, 0);
            }
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    let at = self.before + widened(self.end);
                    let fault = match self.gzip {
                        true => Fault {
                            problem: format!(
                                "the compressed data is damaged or cut off after {at} bytes of content: {error}"
                            ),
                            remedy: "use --lenient to analyse everything before it",
                        },
                        false => return Err(unreadable(&self.name, &error)),
                    };
                    self.skip_or(&fault, self.here())?;
                }
            }
        }
        Ok((self.end - self.start).min(wanted))
    }

    /// The bytes in the buffer that [`Input::fill`] made sure of.
    pub fn ahead(&self, count: usize) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + count)]
    }

    /// Takes bytes that are in the buffer.
    pub fn take(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Takes the next line, as its place in [`Input::bytes`], without its end; `None` when there is none.
    ///
    /// # Errors
    /// When the file cannot be read, a line has no end, or one is longer than [`LONGEST`].
    pub fn next_line(&mut self) -> Result<Option<std::ops::Range<usize>>> {
        let mut searched = 0;
        loop {
            let waiting = &self.buffer[self.start + searched..self.end];
            if let Some(found) = waiting.iter().position(|byte| *byte == b'\n') {
                let mut line = self.start..self.start + searched + found;
                self.start = line.end + 1;
                self.line += 1;
                if self.buffer[line.clone()].last() == Some(&b'\r') {
                    line.end -= 1;
                }
                return Ok(Some(line));
            }
            searched = self.end - self.start;
            if searched > LONGEST {
                let fault = Fault::new(format!("a line is longer than {LONGEST} bytes"));
                return Err(self.fault(&fault, At::Line(self.line + 1)));
            }
            if self.ended {
                if searched > 0 {
                    let fault = Fault {
                        problem: "the last line has no line end: the trace was cut off".to_owned(),
                        remedy: "use --lenient to skip it",
                    };
                    self.start = self.end;
                    self.skip_or(&fault, At::Line(self.line + 1))?;
                }
                return Ok(None);
            }
            self.fill(searched + 1)?;
        }
    }

    /// Bytes at a place that [`Input::next_line`] gave, before the next call of anything that reads.
    pub fn bytes(&self, place: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[place]
    }

    /// The byte reached.
    pub fn here(&self) -> At {
        At::Byte(self.position())
    }

    /// Whether faults are skipped.
    pub fn lenient(&self) -> bool {
        self.lenient
    }

    /// The error of a fault, or, if lenient, nothing and one more skip.
    ///
    /// # Errors
    /// The fault with its place, unless lenient.
    pub fn skip_or(&mut self, fault: &Fault, at: At) -> Result<()> {
        let error = self.fault(fault, at);
        if !self.lenient {
            return Err(error);
        }
        self.skipped.count += 1;
        if self.skipped.first.len() < KEPT {
            self.skipped.first.push(error.to_string());
        }
        Ok(())
    }

    /// The error of a fault at a place.
    pub fn fault(&self, fault: &Fault, at: At) -> LabError {
        let problem = match at {
            At::Line(_) => fault.problem.clone(),
            At::Byte(byte) => format!("at byte {byte}: {}", fault.problem),
        };
        let error = LabError::new(LabErrorKind::Syntax, problem)
            .in_file(&self.name)
            .remedy(fault.remedy);
        match at {
            At::Line(line) => error.at(&Place::Line(line)),
            At::Byte(_) => error,
        }
    }
}

/// Bytes of a file as text for a message: the first few, what cannot be printed escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let dots = if bytes.len() > SHOWN { "..." } else { "" };
    format!("\"{}{dots}\"", shown.escape_ascii())
}

fn unreadable(name: &str, error: &std::io::Error) -> LabError {
    LabError::io(Path::new(name), "read the trace", error)
}

/// A number of bytes as a position.
pub fn widened(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn lines(mut input: Input) -> Result<(Vec<String>, Skipped)> {
        let mut all = Vec::new();
        while let Some(line) = input.next_line()? {
            all.push(String::from_utf8_lossy(input.bytes(line)).into_owned());
        }
        Ok((all, input.into_skipped()))
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn lines_longer_than_a_chunk_and_gzip_read_the_same() {
        let text = format!("a\r\n\n{}\nlast\n", "x".repeat(CHUNK * 2 + 7));
        let plain = Input::new(std::io::Cursor::new(text.clone()), "t", false).unwrap();
        let (plain, _) = lines(plain).unwrap();
        assert_eq!(plain.len(), 4);
        assert_eq!((plain[0].as_str(), plain[1].as_str()), ("a", ""));
        let packed =
            Input::new(std::io::Cursor::new(gzip(text.as_bytes())), "t.gz", false).unwrap();
        assert_eq!(lines(packed).unwrap().0, plain);
    }

    #[test]
    fn a_line_without_an_end_is_an_error_or_a_skip() {
        let open = |lenient| Input::new(&b"a\nb"[..], "t", lenient).unwrap();
        let error = lines(open(false)).unwrap_err();
        assert_eq!(error.line(), Some(2));
        assert!(error.to_string().contains("cut off"), "{error}");
        let (read, skipped) = lines(open(true)).unwrap();
        assert_eq!((read.len(), skipped.count), (1, 1));
    }

    #[test]
    fn gzip_that_is_cut_off_is_told_with_its_byte() {
        let packed = gzip("0123456789\n".repeat(5000).as_bytes());
        let half = packed[..packed.len() / 2].to_vec();
        let open = |lenient| Input::new(std::io::Cursor::new(half.clone()), "t.gz", lenient);
        let error = open(false).and_then(lines).unwrap_err();
        assert!(error.to_string().contains("at byte"), "{error}");
        let (_, skipped) = open(true).and_then(lines).unwrap();
        assert!(skipped.count >= 1);
        let begin = packed[..5].to_vec();
        let error = Input::new(std::io::Cursor::new(begin), "t.gz", true).err();
        assert!(error.unwrap().to_string().contains("cut off"));
    }

    #[test]
    fn an_empty_file_is_named() {
        let error = Input::new(&b""[..], "none.tr", false).err().unwrap();
        assert!(error.to_string().starts_with("none.tr: the trace is empty"));
    }
}
