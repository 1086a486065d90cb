"""The oracle of RTCP's timing against what RFC 3550 says of it, and the figures that were taken from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtcp_rfc3550 as rtcp
import rtp_reception_rfc3550 as reception

FIGURES = Path(__file__).parents[1] / "data" / "rtcp" / "a7.csv"


def test_the_interval_is_that_of_the_five_second_minimum_or_of_the_share() -> None:
    def at(members: int, senders: int, we_sent: bool, initial: bool = False) -> float:
        return rtcp.rtcp_interval(members, senders, 400.0, we_sent, 100.0, initial, 0.5)

    assert at(2, 1, True) == pytest.approx(5 / 1.21828)
    assert at(2, 1, True, initial=True) == pytest.approx(2.5 / 1.21828)
    assert at(100, 1, False) == pytest.approx(33 / 1.21828)
    assert at(100, 50, True) == pytest.approx(25 / 1.21828)


@pytest.mark.parametrize("members", [2, 10, 100, 1000])
def test_reconsideration_and_compensation_cancel_in_the_mean(members: int) -> None:
    values = rtcp.intervals(members)
    mean = sum(values) / len(values)
    assert mean == pytest.approx(rtcp.wait_of(members), rel=0.02)
    # Nothing is shorter than the shortest draw, nothing longer than the longest.
    assert values[0] >= 0.5 / 1.21828 * rtcp.wait_of(members) * 0.99
    assert values[-1] <= 1.5 / 1.21828 * rtcp.wait_of(members) * 1.01


def test_a_flash_join_is_held_back_to_the_share_of_rtcp() -> None:
    plain = rtcp.Session(10_000, reconsider=False)
    plain.run(3.1)
    assert len(plain.reports) == 10_000
    held = rtcp.Session(10_000)
    held.run(60.0)
    # Three quarters of 1000 bytes per second carry 450 packets in a minute; while members learn of each other it is about twice that.
    assert 450 < len(held.reports) < 1350


def test_the_figures_are_those_of_the_oracle() -> None:
    assert FIGURES.read_text(encoding="utf-8") == rtcp.text(rtcp.figures())


def test_a_report_says_what_is_missing_between_the_first_and_the_highest_number() -> None:
    source = reception.Source()
    for number in (10, 11, 13, 14, 13):
        source.arrives(number, 160 * number, 160 * number + 7)
    # One of five is missing, and one came twice.
    assert source.report() == (0, 0, 14, 0.0)
    source.arrives(18, 160 * 18, 160 * 18 + 23)
    # Three of four since then; the difference of 16 units counts a sixteenth.
    assert source.report() == (192, 3, 18, 1.0)


def test_the_reports_are_those_of_the_oracle() -> None:
    file = FIGURES.with_name("reception.csv")
    assert file.read_text(encoding="utf-8") == reception.text()
