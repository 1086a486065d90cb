//! The tin of each DSCP.

/// The tin of each DSCP.
pub(super) const BESTEFFORT: [u8; 64] = [0; 64];

pub(super) const PRECEDENCE: [u8; 64] = table(
    &[
        (8, 8, 1),
        (16, 8, 2),
        (24, 8, 3),
        (32, 8, 4),
        (40, 8, 5),
        (48, 8, 6),
        (56, 8, 7),
    ],
    0,
);

/// CS1 and LE are bulk; TOS4, VA, EF, CS6 and CS7 are for low latency.
pub(super) const DIFFSERV3: [u8; 64] = table(
    &[
        (1, 1, 1),
        (4, 1, 2),
        (8, 1, 1),
        (44, 1, 2),
        (46, 1, 2),
        (48, 1, 2),
        (56, 1, 2),
    ],
    0,
);

/// As diffserv3, with CS5 and CS4 for low latency, and CS2, CS3, TOS4, AF2x, AF3x and AF4x for video.
pub(super) const DIFFSERV4: [u8; 64] = table(
    &[
        (1, 1, 1),
        (4, 1, 2),
        (8, 1, 1),
        (16, 1, 2),
        (18, 1, 2),
        (20, 1, 2),
        (22, 1, 2),
        (24, 1, 2),
        (26, 1, 2),
        (28, 1, 2),
        (30, 1, 2),
        (32, 1, 3),
        (34, 1, 2),
        (36, 1, 2),
        (38, 1, 2),
        (40, 1, 3),
        (44, 1, 3),
        (46, 1, 3),
        (48, 1, 3),
        (56, 1, 3),
    ],
    0,
);

pub(super) const DIFFSERV8: [u8; 64] = table(
    &[
        (1, 1, 0),
        (2, 1, 1),
        (4, 1, 4),
        (8, 1, 1),
        (10, 1, 1),
        (12, 1, 1),
        (14, 1, 1),
        (16, 1, 5),
        (18, 1, 4),
        (20, 1, 4),
        (22, 1, 4),
        (24, 1, 3),
        (26, 1, 3),
        (28, 1, 3),
        (30, 1, 3),
        (32, 1, 6),
        (34, 1, 3),
        (36, 1, 3),
        (38, 1, 3),
        (40, 1, 6),
        (44, 1, 6),
        (46, 1, 6),
        (48, 1, 7),
        (56, 1, 7),
    ],
    2,
);

/// A table of DSCPs: first, number and tin of each run, and the tin of all others.
pub(super) const fn table(runs: &[(usize, usize, u8)], others: u8) -> [u8; 64] {
    let mut table = [others; 64];
    let mut run = 0;
    while run < runs.len() {
        let (first, number, tin) = runs[run];
        let mut dscp = first;
        while dscp < first + number {
            table[dscp] = tin;
            dscp += 1;
        }
        run += 1;
    }
    table
}
