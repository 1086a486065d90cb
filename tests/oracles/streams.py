"""Sojourn's random streams, reimplemented for the oracles so that both sides see the same draws.

A stream belongs to a seed, a replication and a name; `sojourn replay --seed N` gives the queue the
stream of (N, 0, "link/replay/queue/aqm"). The three are folded into 64 bits: FNV-1a (Fowler, Noll,
Vo; 64 bits) of the name, SplitMix64 (Steele, Lea, Flood 2014) of the seed, then of that xor the
replication, then of that xor the hash. The generator is xoshiro256++ (Blackman and Vigna 2021)
whose four words are the next four outputs of SplitMix64 started at those 64 bits.
"""

from __future__ import annotations

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
REPLAY = "link/replay/queue/aqm"


def _mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def _split_mix(word: int) -> int:
    return _mix((word + GOLDEN) & MASK)


def _rotate(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & MASK


class Stream:
    """The draws of one component."""

    def __init__(self, seed: int, replication: int = 0, name: str = REPLAY) -> None:
        fnv = 0xCBF29CE484222325
        for byte in name.encode():
            fnv = ((fnv ^ byte) * 0x100000001B3) & MASK
        state = _split_mix(_split_mix(_split_mix(seed) ^ replication) ^ fnv)
        self._words = [_mix((state + (i + 1) * GOLDEN) & MASK) for i in range(4)]

    def bits(self) -> int:
        """64 random bits."""
        a, b, c, d = self._words
        result = (_rotate((a + d) & MASK, 23) + a) & MASK
        c ^= a
        d ^= b
        self._words = [a ^ d, b ^ c, c ^ ((b << 17) & MASK), _rotate(d, 45)]
        return result

    def uniform(self) -> float:
        """Uniform in [0, 1): the upper 53 bits of a draw."""
        return (self.bits() >> 11) * 2.0**-53
