//! Work that is spread over all cores, where the order of what comes of it stays.

use std::num::NonZero;
use std::thread::{self, ScopedJoinHandle};

use sojourn_scenario::error::Result;

/// Gives each core a part of the items; what comes of the parts, in the order of the items.
///
/// # Errors
/// The error of the first part that failed.
pub fn in_chunks<T, U, F>(items: &[T], of: F) -> Result<Vec<U>>
where
    T: Sync,
    U: Send,
    F: Fn(&[T]) -> Result<Vec<U>> + Sync,
{
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let size = items.len().div_ceil(threads).max(1);
    let of = &of;
    let parts: Result<Vec<Vec<U>>> = thread::scope(|scope| {
        let begin = |part| scope.spawn(move || of(part));
        let begun: Vec<_> = items.chunks(size).map(begin).collect();
        begun.into_iter().map(joined).collect()
    });
    Ok(parts?.into_iter().flatten().collect())
}

/// What a thread gives; its panic goes on here.
fn joined<U>(thread: ScopedJoinHandle<'_, U>) -> U {
    match thread.join() {
        Ok(given) => given,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::{LabError, LabErrorKind};

    #[test]
    fn the_order_is_that_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let twice = in_chunks(&items, |part| Ok(part.iter().map(|n| 2 * n).collect()));
        assert_eq!(twice.ok(), Some((0..1000).map(|n| 2 * n).collect()));
        let none = in_chunks(&[], |part: &[u64]| Ok(part.to_vec()));
        assert_eq!(none.ok(), Some(Vec::new()));
    }

    #[test]
    fn the_first_error_counts() {
        let items: Vec<u64> = (0..1000).collect();
        let failed = in_chunks(&items, |part| -> Result<Vec<u64>> {
            Err(LabError::new(LabErrorKind::Bug, format!("{}", part[0])))
        });
        assert!(failed.is_err_and(|error| error.to_string().contains('0')));
    }
}
