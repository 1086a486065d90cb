//! Who writes into a result directory.
//!
//! A process holds a lock of the operating system on `.lock` while it writes: alone, or beside the other parts of the same
//! study. The lock ends with the process, however that ends, so that no lock is ever stale; the file is removed by whoever
//! lets go last. It says which process holds it, for messages only.
//!
//! `File::lock` is `flock` on Linux, BSD and macOS, and `LockFileEx` on Windows. Over NFS it works between machines where the
//! mount does locks (Linux: NFS 4, or NFS 3 with lockd, and no `nolock` or `local_lock`). Where a file system has no locks
//! at all, nothing is locked, and nothing is cleaned up that could be another's.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Name of the lock of a directory; parts of a study add their names: `.lock-1of4`.
const LOCK_FILE: &str = ".lock";

/// How often a lock that is taken is tried again, and after what time: others hold it for moments while they begin and end.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// How a process uses a result directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Nobody else writes into it.
    Alone,
    /// One part of a study, beside the others and beside reports; the name of the part, such as `1of4`.
    Part(String),
    /// A report, beside parts of a study and other reports.
    Report,
}

/// A directory that this process writes into. When it is dropped, the directory is free.
#[derive(Debug)]
pub struct Hold {
    dir: PathBuf,
    /// The lock of the directory; `None` where the file system has none.
    lock: Option<File>,
    /// The lock of the part.
    part: Option<(PathBuf, File)>,
    exclusive: bool,
}

/// What came of an attempt to lock.
enum Attempt {
    Locked(File),
    Taken,
    NoLocks,
}

impl Hold {
    /// Takes a directory that exists. `first` runs while nobody else writes into it; beside others it does not run.
    ///
    /// # Errors
    /// When another process has it, and then says which; when a lock cannot be made; those of `first`.
    pub fn take(dir: &Path, claim: &Claim, first: impl FnOnce() -> Result<()>) -> Result<Hold> {
        let path = dir.join(LOCK_FILE);
        let failed = |error: Error| LabError::io(&path, "lock the directory", &error);
        let mut hold = Hold {
            dir: dir.to_owned(),
            lock: None,
            part: None,
            exclusive: false,
        };
        if let Claim::Part(name) = claim {
            let own = dir.join(format!("{LOCK_FILE}-{name}"));
            match patiently(|| attempt(&own, true)).map_err(failed)? {
                Attempt::Locked(mut file) => {
                    sign(&mut file).map_err(failed)?;
                    hold.part = Some((own, file));
                }
                Attempt::Taken => return Err(in_use(dir)),
                Attempt::NoLocks => return Ok(hold),
            }
        }
        // A message on a directory in use does not name the process that gets it.
        let refused = |hold: Hold| {
            drop(hold);
            Err(in_use(dir))
        };
        let whole = match claim {
            Claim::Alone => patiently(|| attempt(&path, true)),
            Claim::Part(_) | Claim::Report => attempt(&path, true),
        };
        match whole.map_err(failed)? {
            Attempt::Locked(mut file) => {
                file.set_len(0).map_err(failed)?;
                hold.exclusive = true;
                if *claim == Claim::Alone {
                    sign(&mut file).map_err(failed)?;
                }
                hold.lock = Some(file);
                first()?;
            }
            Attempt::Taken if *claim == Claim::Alone => return refused(hold),
            Attempt::Taken => {}
            Attempt::NoLocks => return Ok(hold),
        }
        if *claim != Claim::Alone {
            // There is no way from an exclusive lock to a shared one but through none.
            hold.lock = None;
            hold.exclusive = false;
            match patiently(|| attempt(&path, false)).map_err(failed)? {
                Attempt::Locked(file) => hold.lock = Some(file),
                Attempt::Taken => return refused(hold),
                Attempt::NoLocks => {}
            }
        }
        Ok(hold)
    }

    /// Whether nobody else writes into the directory, from now until it is dropped.
    pub(super) fn make_exclusive(&mut self) -> bool {
        let Some(lock) = &self.lock else {
            return false;
        };
        if !self.exclusive {
            self.exclusive = lock.unlock().is_ok()
                && lock.try_lock().is_ok()
                && is_at(lock, &self.dir.join(LOCK_FILE));
        }
        self.exclusive
    }

    /// Whether there is a lock: some file systems have none.
    pub(super) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Whether a file of the directory is a lock.
    pub(super) fn is_lock(name: &str) -> bool {
        name.strip_prefix(LOCK_FILE)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // A file is removed only by who holds it alone. What cannot be removed is taken by the next process.
        if let Some((path, _)) = &self.part {
            let _ = std::fs::remove_file(path);
        }
        if self.make_exclusive() {
            let _ = std::fs::remove_file(self.dir.join(LOCK_FILE));
        }
    }
}

/// Tries to lock a file, and makes it if there is none.
fn attempt(path: &Path, exclusive: bool) -> std::io::Result<Attempt> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let locked = match exclusive {
            true => file.try_lock(),
            false => file.try_lock_shared(),
        };
        match locked {
            // Its holder may have removed it between the two calls: then it locks nothing.
            Ok(()) if !is_at(&file, path) => {}
            Ok(()) => return Ok(Attempt::Locked(file)),
            Err(TryLockError::WouldBlock) => return Ok(Attempt::Taken),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                let _ = std::fs::remove_file(path);
                return Ok(Attempt::NoLocks);
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn patiently(attempt: impl Fn() -> std::io::Result<Attempt>) -> std::io::Result<Attempt> {
    for _ in 1..ATTEMPTS {
        match attempt()? {
            Attempt::Taken => std::thread::sleep(PAUSE),
            other => return Ok(other),
        }
    }
    attempt()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Writes who this is into a lock.
fn sign(file: &mut File) -> std::io::Result<()> {
    let host = host().map_or_else(String::new, |host| format!(" on {host}"));
    let text = format!("process {}{host} since {}", std::process::id(), now());
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// The error of a directory that others write into.
fn in_use(dir: &Path) -> LabError {
    let mut holders = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !Hold::is_lock(&name) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else {
            continue;
        };
        // What nobody holds was left by a process that was killed.
        if file.try_lock_shared().is_ok() && name != LOCK_FILE {
            continue;
        }
        let mut text = String::new();
        let read = file.take(MOST_SIGNED).read_to_string(&mut text);
        if read.is_ok() && !text.trim().is_empty() {
            let part = name.strip_prefix(LOCK_FILE).unwrap_or_default();
            let part = match part.trim_start_matches('-').split_once("of") {
                Some((number, of)) => format!(" (part {number}/{of})"),
                None => String::new(),
            };
            holders.push(format!("{}{part}", text.trim()));
        }
    }
    let who = match holders.is_empty() {
        true => "another process".to_owned(),
        false => holders.join(", "),
    };
    LabError::new(
        LabErrorKind::Io,
        format!("another process is writing to this directory: {who}"),
    )
    .in_file(&dir.display().to_string())
    .remedy("wait until it ends, name another directory, or split the runs with --shard I/N")
}

/// The error of a directory that `--fresh` cannot empty, since others write into it.
pub(super) fn not_alone(dir: &Path) -> LabError {
    in_use(dir).remedy("remove --fresh, or wait until the other processes end")
}

/// More than this is no signature.
const MOST_SIGNED: u64 = 1000;

/// The name of this machine.
pub fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.map(|name| name.trim().to_owned())
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
}

#[allow(
    clippy::disallowed_methods,
    reason = "since when a directory is in use is not part of a result"
)]
fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    utc(since.unwrap_or_default().as_secs())
}

/// Seconds since 1970 as a date and a time of day.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin in March, and an era of
    // 400 years has 146 097 days.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month < 10 {
        true => (era * 400 + year, month + 3),
        false => (era * 400 + year + 1, month - 9),
    };
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{year}-{month:02}-{date:02} {hour:02}:{minute:02}:{:02} UTC",
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(dir: &Path, claim: &Claim) -> Result<Hold> {
        Hold::take(dir, claim, || Ok(()))
    }

    fn part(name: &str) -> Claim {
        Claim::Part(name.to_owned())
    }

    #[test]
    fn a_directory_has_one_writer_or_several_parts() {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = temp.path();
        let alone = take(dir, &Claim::Alone).expect("free");
        let error = take(dir, &Claim::Alone).expect_err("in use").to_string();
        let me = format!("process {}", std::process::id());
        assert!(error.contains(&me) && error.contains(" UTC; "), "{error}");
        assert!(take(dir, &part("1of2")).is_err());
        drop(alone);
        let first = take(dir, &part("1of2")).expect("free");
        let second = take(dir, &part("2of2")).expect("another part");
        let report = take(dir, &Claim::Report).expect("beside parts");
        let error = take(dir, &part("2of2")).expect_err("twice").to_string();
        assert!(error.contains("(part 2/2)"), "{error}");
        assert!(take(dir, &Claim::Alone).is_err());
        drop((first, second, report));
        drop(take(dir, &Claim::Alone).expect("free again"));
        assert_eq!(std::fs::read_dir(dir).expect("a folder").count(), 0);
    }

    #[test]
    fn what_needs_nobody_else_runs_for_the_first_of_several() {
        let temp = tempfile::tempdir().expect("a folder");
        let ran = |claim: &Claim| {
            let mut ran = false;
            let hold = Hold::take(temp.path(), claim, || {
                ran = true;
                Ok(())
            });
            (hold.expect("a hold"), ran)
        };
        let (first, cleaned) = ran(&part("1of2"));
        assert!(cleaned);
        let (mut second, cleaned) = ran(&part("2of2"));
        assert!(!cleaned);
        assert!(!second.make_exclusive());
        drop(first);
    }

    #[test]
    fn a_lock_that_a_killed_process_left_is_taken() {
        let temp = tempfile::tempdir().expect("a folder");
        let file = temp.path().join(LOCK_FILE);
        std::fs::write(&file, "process 1 on gone since long ago").expect("written");
        drop(take(temp.path(), &Claim::Alone).expect("nobody holds it"));
        assert!(!file.exists());
    }

    #[test]
    fn dates_follow_from_seconds() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_798_761_599), "2026-12-31 23:59:59 UTC");
    }
}
