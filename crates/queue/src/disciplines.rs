//! The disciplines: AQMs, which judge packets of one queue, and schedulers, which own several queues.

pub mod aqms;
pub mod schedulers;

use crate::catalogue::CatalogueEntry;

const COUNT: usize = aqms::CATALOGUE.len() + schedulers::CATALOGUE.len();

/// Every discipline of this crate: AQMs, then schedulers.
pub(crate) const CATALOGUE: [CatalogueEntry; COUNT] = {
    let mut all = [aqms::CATALOGUE[0]; COUNT];
    let mut at = 1;
    while at < COUNT {
        all[at] = if at < aqms::CATALOGUE.len() {
            aqms::CATALOGUE[at]
        } else {
            schedulers::CATALOGUE[at - aqms::CATALOGUE.len()]
        };
        at += 1;
    }
    all
};
