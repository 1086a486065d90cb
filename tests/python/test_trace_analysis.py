"""`sojourn.trace_analyse`: the tables of the command."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest

import sojourn

DATA = Path(__file__).resolve().parents[1] / "data"
NS2 = DATA / "traces" / "ns2-newreno-2flows.tr.gz"
PCAP = DATA / "traces" / "loopback.pcap.gz"


@pytest.mark.parametrize("path", [NS2, PCAP], ids=["ns2", "pcap"])
def test_the_package_gives_the_tables_of_the_command(path: Path, command: Path) -> None:
    arguments = ["trace", "analyse", str(path), "--step", "500ms", "--format", "json"]
    printed = subprocess.run([str(command), *arguments], capture_output=True, text=True, check=True)
    theirs = json.loads(printed.stdout)["tables"]
    ours = sojourn.trace_analyse(path, step="500ms")
    assert {name: table.to_dicts() for name, table in ours.items()} == theirs


def test_links_have_rates_and_a_window() -> None:
    tables = sojourn.trace_analyse(NS2, rates={"0-1": "1.5Mbps"}, start="1s", stop="6s")
    links = {row["link"]: row for row in tables["links"].to_dicts()}
    assert links["0-1"]["rate_source"] == "given"
    bits = 8 * links["0-1"]["sent_bytes"]
    assert links["0-1"]["utilization_ratio"] == pytest.approx(bits / 7.5e6, rel=1e-12)
    assert tables["trace"]["duration_s"] == [5.0]


def test_what_is_skipped_is_a_warning_and_otherwise_an_error(tmp_path: Path) -> None:
    trace = tmp_path / "broken.tr"
    trace.write_text("+ 0.1 2 0 tcp 40 ------- 1 2.0 3.0 7 21\n- 0.1 2 0\n")
    with pytest.raises(sojourn.FileSyntaxError, match=r"broken.tr:2: .*4 of 12 fields"):
        sojourn.trace_analyse(trace)
    with pytest.warns(UserWarning, match="1 skipped"):
        tables = sojourn.trace_analyse(trace, lenient=True)
    assert tables["flows"]["sent_packets"] == [1]


def capture(packet: bytes) -> bytes:
    """A capture of one packet of IP."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    return head + struct.pack("<IIII", 1_700_000_000, 0, len(packet), len(packet)) + packet


def ipv4(protocol: int, payload: bytes, length: int | None = None) -> bytes:
    """IPv4 around a payload, with its length or another."""
    total = 20 + len(payload) if length is None else length
    return (
        struct.pack(">BBHIBBH4s4s", 0x45, 0, total, 0, 64, protocol, 0, bytes(4), bytes(4))
        + payload
    )


def test_packets_without_a_length_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "offload.pcap"
    path.write_bytes(capture(ipv4(17, bytes(1000), length=0)))
    with pytest.warns(UserWarning, match="1 of 1 IP packets have length 0"):
        tables = sojourn.trace_analyse(path)
    assert tables["trace"]["ip_bytes"] == [1020]


def test_a_tunnel_is_analysed_inside_or_outside(tmp_path: Path) -> None:
    path = tmp_path / "tunnel.pcap"
    path.write_bytes(capture(ipv4(4, ipv4(17, bytes(1000)))))
    assert sojourn.trace_analyse(path)["trace"]["ip_bytes"] == [1020]
    assert sojourn.trace_analyse(path, tunnels="outer")["trace"]["ip_bytes"] == [1040]
    with pytest.raises(sojourn.UnknownNameError) as caught:
        sojourn.trace_analyse(path, tunnels="iner")
    assert caught.value.nearest == "inner"


def test_an_argument_that_cannot_be_is_named() -> None:
    with pytest.raises(sojourn.BadValueError, match="step= 10"):
        sojourn.trace_analyse(NS2, step="10")
    with pytest.raises(sojourn.UnknownNameError) as caught:
        sojourn.trace_analyse(NS2, rates={"0-11": "1Mbps"})
    assert caught.value.nearest == "0-1"
