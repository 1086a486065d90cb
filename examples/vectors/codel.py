"""CoDel by the pseudo-code of RFC 8289, speaking the protocol of `sojourn vectors check`.

    sojourn vectors check --queue codel-rfc8289 --exec 'python3 examples/vectors/codel.py'

The header and the events come on standard input; each event is answered with one line. See docs/vectors.md.
"""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from typing import NamedTuple

NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class Packet(NamedTuple):
    number: int
    size: int
    capable: bool
    arrived: int


class Codel:
    """Times in nanoseconds."""

    def __init__(self, target: int, interval: int, maxpacket: int, limit: int, ecn: bool) -> None:
        self.target = target
        self.interval = interval
        self.maxpacket = maxpacket
        self.limit = limit
        self.ecn = ecn
        self.queue: deque[Packet] = deque()
        self.bytes = 0
        self.first_above: float | None = None
        self.drop_next = 0.0
        self.count = 0
        self.lastcount = 0
        self.dropping = False
        self.said: list[str] = []

    def arrive(self, packet: Packet) -> None:
        if len(self.queue) == self.limit:
            self.said.append(f"drop {packet.number} overlimit")
        else:
            self.queue.append(packet)
            self.bytes += packet.size

    def depart(self, now: int) -> None:
        packet, ok_to_drop = self.take(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while self.dropping and packet is not None and now >= self.drop_next:
                self.count += 1
                if self.mark(packet):
                    self.drop_next += self.spacing()
                    break
                self.drop(packet)
                packet, ok_to_drop = self.take(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next += self.spacing()
        elif ok_to_drop and packet is not None:
            if not self.mark(packet):
                self.drop(packet)
                packet, _ = self.take(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.interval:
                self.count = delta
            self.drop_next = now + self.spacing()
            self.lastcount = self.count
        if packet is not None:
            self.said.append(f"sent {packet.number}")

    def take(self, now: int) -> tuple[Packet | None, bool]:
        if not self.queue:
            self.first_above = None
            return None, False
        packet = self.queue.popleft()
        self.bytes -= packet.size
        if now - packet.arrived < self.target or self.bytes <= self.maxpacket:
            self.first_above = None
            return packet, False
        if self.first_above is None:
            self.first_above = now + self.interval
            return packet, False
        return packet, now >= self.first_above

    def spacing(self) -> float:
        return self.interval / math.sqrt(self.count)

    def drop(self, packet: Packet) -> None:
        self.said.append(f"drop {packet.number} target_exceeded")

    def mark(self, packet: Packet) -> bool:
        if self.ecn and packet.capable:
            self.said.append(f"mark {packet.number} target_exceeded")
            return True
        return False

    def answer(self) -> str:
        numbers = [self.count, self.lastcount, int(self.dropping)]
        times = [self.drop_next / 1e9, (self.first_above or 0) / 1e9]
        state = " ".join(["state", *map(str, numbers), *map(repr, times)])
        answer = "; ".join([*self.said, state])
        self.said.clear()
        return answer


def number(text: str) -> int:
    """The number before the unit."""
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]


def duration(text: str) -> int:
    """Nanoseconds of a text such as 5ms."""
    value, unit = re.fullmatch(r"([\d.]+)([a-z]+)", text).groups()  # type: ignore[union-attr]
    return round(float(value) * NS[unit])


def main() -> int:
    header: dict[str, str] = {}
    for line in sys.stdin:
        key, _, value = line.strip().rpartition(" ")
        if key == "events":
            break
        header[key] = value
    if (header["discipline"], header["dialect"]) != ("codel", "rfc8289"):
        print("unsupported")
        return 0
    codel = Codel(
        target=duration(header["parameter target"]),
        interval=duration(header["parameter interval"]),
        maxpacket=number(header["parameter mtu"]),
        limit=number(header["parameter limit"]),
        ecn=header["parameter ecn"] == "true",
    )
    for line in sys.stdin:
        kind, *words = line.split()
        if kind == "arrive":
            time, packet, size, _flow, ecn, _dscp = map(int, words[:6])
            codel.arrive(Packet(packet, size, ecn != 0, time))
        else:
            codel.depart(int(words[0]))
        print(codel.answer())
    return 0


if __name__ == "__main__":
    sys.exit(main())
