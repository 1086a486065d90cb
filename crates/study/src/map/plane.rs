//! Where a map is looked at: cells of a grid that are split, or intervals of a line that are halved.
//!
//! Places are whole numbers, in parts of an axis that is as fine as the deepest split needs, so that none is met twice by rounding.

use std::collections::BTreeSet;

use sojourn_results::stats::to_f64;

/// How often an axis may be halved: the coarse cells, as often as they may be split, and once more for the middle of a cell.
const PARTS: u64 = 1 << 12;

/// A cell of a map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cell {
    /// Its lower left corner.
    pub corner: (u64, u64),
    /// Its size.
    pub size: u64,
    /// How often it was split from a cell of the coarse grid.
    pub depth: u32,
}

impl Cell {
    /// Its middle, where it is judged.
    pub fn middle(&self) -> (u64, u64) {
        (self.corner.0 + self.size / 2, self.corner.1 + self.size / 2)
    }

    /// Whether a place lies in it.
    pub(super) fn holds(&self, (x, y): (u64, u64)) -> bool {
        let within = |from: u64, at: u64| (from..from + self.size).contains(&at);
        within(self.corner.0, x) && within(self.corner.1, y)
    }

    /// Whether two cells have an edge in common.
    fn touches(&self, other: &Cell) -> bool {
        let end = |cell: &Cell| (cell.corner.0 + cell.size, cell.corner.1 + cell.size);
        let (a, b) = (end(self), end(other));
        let overlap_x = self.corner.0 < b.0 && other.corner.0 < a.0;
        let overlap_y = self.corner.1 < b.1 && other.corner.1 < a.1;
        let meet_x = a.0 == other.corner.0 || b.0 == self.corner.0;
        let meet_y = a.1 == other.corner.1 || b.1 == self.corner.1;
        (overlap_x && meet_y) || (overlap_y && meet_x)
    }

    fn split(&self) -> [Cell; 4] {
        let half = self.size / 2;
        let (x, y) = self.corner;
        [(x, y), (x + half, y), (x, y + half), (x + half, y + half)].map(|corner| Cell {
            corner,
            size: half,
            depth: self.depth + 1,
        })
    }
}

/// The places of a map.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// Parts of an axis.
    whole: u64,
    /// Of a grid.
    cells: Vec<Cell>,
    /// Of a line, in order.
    places: BTreeSet<u64>,
    /// How often the places of a line were halved.
    halved: u32,
}

impl Plane {
    /// A grid of as many cells along each axis.
    pub(super) fn grid(cells: u32) -> Plane {
        let count = u64::from(cells);
        let corners = (0..count).flat_map(|y| (0..count).map(move |x| (x, y)));
        let cell = |(x, y)| Cell {
            corner: (x * PARTS, y * PARTS),
            size: PARTS,
            depth: 0,
        };
        Plane {
            whole: count * PARTS,
            cells: corners.map(cell).collect(),
            places: BTreeSet::new(),
            halved: 0,
        }
    }

    /// A line of as many intervals.
    pub(super) fn line(intervals: u32) -> Plane {
        let count = u64::from(intervals);
        Plane {
            whole: count * PARTS,
            cells: Vec::new(),
            places: (0..=count).map(|place| place * PARTS).collect(),
            halved: 0,
        }
    }

    /// The share of its axis at which a place lies.
    pub(super) fn share(&self, place: u64) -> f64 {
        to_f64(place) / to_f64(self.whole)
    }

    /// Parts of an axis.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The places that are not known yet.
    pub(super) fn open(&self, known: impl Fn(&(u64, u64)) -> bool) -> Vec<(u64, u64)> {
        let of_cells = self.cells.iter().map(Cell::middle);
        let of_line = self.places.iter().map(|place| (*place, 0));
        of_cells.chain(of_line).filter(|at| !known(at)).collect()
    }

    /// Splits what lies at a border, unless that was done `most` times; false if there is nothing to split.
    pub(super) fn refine<W: PartialEq>(
        &mut self,
        most: u32,
        winner: impl Fn(&(u64, u64)) -> Option<W>,
    ) -> bool {
        match self.cells.is_empty() {
            true => self.halve(most, winner),
            false => self.split(most, winner),
        }
    }

    fn split<W: PartialEq>(
        &mut self,
        most: u32,
        winner: impl Fn(&(u64, u64)) -> Option<W>,
    ) -> bool {
        let at_border = |cell: &Cell| {
            let own = winner(&cell.middle());
            let mut others = self.cells.iter();
            others.any(|other| cell.touches(other) && winner(&other.middle()) != own)
        };
        let splits: Vec<bool> = (self.cells.iter())
            .map(|cell| cell.depth < most && at_border(cell))
            .collect();
        let parts = self
            .cells
            .iter()
            .zip(&splits)
            .flat_map(|(cell, splits)| match splits {
                true => cell.split().to_vec(),
                false => vec![*cell],
            });
        self.cells = parts.collect();
        splits.contains(&true)
    }

    fn halve<W: PartialEq>(
        &mut self,
        most: u32,
        winner: impl Fn(&(u64, u64)) -> Option<W>,
    ) -> bool {
        if self.halved >= most {
            return false;
        }
        self.halved += 1;
        let between: Vec<u64> = (self.places.iter().zip(self.places.iter().skip(1)))
            .filter(|(a, b)| winner(&(**a, 0)) != winner(&(**b, 0)) && *b - *a > 1)
            .map(|(a, b)| a.midpoint(*b))
            .collect();
        let some = !between.is_empty();
        self.places.extend(between);
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_at_a_border_are_split_and_no_place_is_met_twice() {
        let mut plane = Plane::grid(4);
        // A wins below the first cell of x.
        let winner = |at: &(u64, u64)| Some(at.0 < PARTS);
        assert_eq!(plane.open(|_| false).len(), 16);
        assert!(plane.refine(2, winner));
        // The first two columns of four cells each.
        assert_eq!(plane.cells().len(), 8 * 4 + 8);
        assert!(plane.refine(2, winner));
        let depths: Vec<u32> = plane.cells().iter().map(|cell| cell.depth).collect();
        assert_eq!(depths.iter().filter(|depth| **depth == 2).count(), 16 * 4);
        assert!(!plane.refine(2, winner));
        let area: u64 = plane.cells().iter().map(|cell| cell.size * cell.size).sum();
        assert_eq!(area, plane.whole * plane.whole);
        let places: BTreeSet<(u64, u64)> = plane.open(|_| false).into_iter().collect();
        assert_eq!(places.len(), plane.cells().len());
    }

    #[test]
    fn a_crossover_is_halved_as_often_as_is_asked() {
        let mut plane = Plane::line(4);
        let border = PARTS + PARTS / 3;
        let winner = |at: &(u64, u64)| Some(at.0 < border);
        while plane.refine(6, winner) {}
        let below = plane.places.range(..border).next_back().unwrap();
        let above = plane.places.range(border..).next().unwrap();
        assert_eq!(above - below, PARTS / 64);
        assert_eq!(plane.places.len(), 5 + 6);
    }

    #[test]
    fn a_map_on_which_one_level_wins_is_not_refined() {
        let mut plane = Plane::grid(3);
        assert!(!plane.refine(5, |_| Some(0)));
        let mut plane = Plane::line(3);
        assert!(!plane.refine(5, |_| Some(0)));
    }
}
