"""CoDel as RFC 8289 has it, as a class of Python.

Its decisions are those of `codel` packet by packet: tests/python/test_plugin_vectors.py compares them on the conformance
vectors. Times are whole picoseconds, as the simulator has them, so that none is rounded.
"""

from math import sqrt

from sojourn.plugin import DROP, Aqm, Limit, Size, Time, Verdict, parameter


class Codel(Aqm):
    """Drops from the head while packets have waited longer than the target for an interval."""

    target: Time = parameter("5ms", low="1us", high="10s", doc="Acceptable standing sojourn time.")
    interval: Time = parameter("100ms", low="10us", high="100s", doc="Time above target.")
    mtu: Size = parameter("1500B", doc="With at most this behind it, a packet is not dropped.")
    limit: Limit = parameter("1000p", low="1p", doc="Maximum queue length.")

    STATE = ("count", "lastcount", "dropping", "drop_next_s", "first_above_s")

    def __init__(self) -> None:
        self.target_ps = round(self.target * 1e12)
        self.interval_ps = round(self.interval * 1e12)
        self.count = self.lastcount = self.drop_next = 0
        self.first_above: int | None = None
        self.dropping = False
        # What the head before this one came to: "sent", "entered" the dropping state, or "dropped" in it.
        self.before = "sent"

    def on_dequeue(self, now_ps: int, sojourn_ps: int, bytes: int) -> Verdict | None:
        may_drop = self.above_for_interval(now_ps, sojourn_ps, bytes)
        before, self.before = self.before, "sent"
        if before == "entered":
            return None
        if before == "dropped" and may_drop:
            self.drop_next += self.spacing()
        if not may_drop:
            self.dropping = False
            return None
        if not self.dropping:
            self.enter(now_ps)
            self.before = "entered"
            return DROP
        if now_ps < self.drop_next:
            return None
        self.count += 1
        self.before = "dropped"
        return DROP

    def on_empty(self) -> None:
        self.first_above = None
        self.dropping = False
        self.before = "sent"

    def above_for_interval(self, now: int, sojourn: int, behind: int) -> bool:
        if behind <= self.mtu or sojourn < self.target_ps:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval_ps
            return False
        return now >= self.first_above

    def enter(self, now: int) -> None:
        self.dropping = True
        delta = self.count - self.lastcount
        recent = now - self.drop_next < 16 * self.interval_ps
        self.count = delta if delta > 1 and recent else 1
        self.lastcount = self.count
        self.drop_next = now + self.spacing()

    def spacing(self) -> int:
        """interval / sqrt(count)."""
        return round(self.interval_ps / sqrt(self.count))

    @property
    def drop_next_s(self) -> float:
        return self.drop_next / 1e12

    @property
    def first_above_s(self) -> float:
        return (self.first_above or 0) / 1e12
