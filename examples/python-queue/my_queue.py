from sojourn.plugin import DROP, Aqm, Random, Ratio, Time, Verdict, parameter


class Steep(Aqm):
    """Drops with a probability that grows with the wait above the target."""

    target: Time = parameter("5ms", low="1us", high="10s", doc="Wait without drops.")
    steep: Time = parameter(
        "100ms", low="1us", doc="Wait above the target at which all is dropped."
    )
    most: Ratio = parameter(0.5, doc="Highest probability of a drop.")

    STATE = ("probability",)
    probability = 0.0

    def on_dequeue(self, sojourn: float, random: Random) -> Verdict | None:
        excess = sojourn - self.target
        self.probability = min(self.most, max(0.0, excess / self.steep))
        if excess > 0 and random() < self.probability:
            return DROP
        return None
