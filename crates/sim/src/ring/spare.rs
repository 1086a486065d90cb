//! Slots that no ring uses, for the rings that need some: those put back last first, because they are in the cache.
//!
//! Each thread has its own. Results do not depend on where a packet lies.

use super::Slots;
use crate::slab::to_usize;
use std::cell::RefCell;
use std::mem::MaybeUninit;

/// Most numbers of slots: 2^0 to 2^31.
const SIZES: usize = 32;

thread_local! {
    /// By the logarithm of their number.
    static SPARE: RefCell<[Vec<Slots>; SIZES]> = const { RefCell::new([const { Vec::new() }; SIZES]) };
}

/// `mask + 1` slots, a power of two, none of them initialised.
pub(super) fn get(mask: u32) -> Slots {
    let size = to_usize(mask.trailing_ones());
    let spare = SPARE.with_borrow_mut(|spare| spare.get_mut(size).and_then(Vec::pop));
    spare.unwrap_or_else(|| {
        let length = to_usize(mask) + 1;
        let mut slots = Vec::with_capacity(length);
        slots.resize_with(length, MaybeUninit::uninit);
        slots.into_boxed_slice()
    })
}

/// Slots without packets.
pub(super) fn put(slots: Slots) {
    let size = to_usize(slots.len().trailing_zeros());
    SPARE.with_borrow_mut(|spare| {
        if let Some(spare) = spare.get_mut(size) {
            spare.push(slots);
        }
    });
}

/// Gives the memory of all slots of this thread that no ring uses back.
pub(crate) fn clear() {
    SPARE.with_borrow_mut(|spare| spare.iter_mut().for_each(|slots| *slots = Vec::new()));
}
