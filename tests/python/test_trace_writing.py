"""Captures that Sojourn writes, read by readers that know nothing of it: one of a page, from the draft of the format, and tshark."""

from __future__ import annotations

import collections
import json
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SCENARIO = """
[run]
duration = "4s"
warmup = "0s"
deterministic = true

[topology]
rate = "2Mbps"
rtt = "40ms"
queue = "droptail limit=10p"

[[flows]]
spec = "reno"

[[flows]]
spec = "sack"

[[flows]]
spec = "cbr 300kbps"
"""

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6


@dataclass
class Packet:
    """A packet of a capture."""

    interface: int
    ns: int
    length: int
    data: bytes
    options: dict[int, bytes]


def options(body: bytes) -> dict[int, bytes]:
    """Options by code; they end with code 0 and fill the block."""
    found: dict[int, bytes] = {}
    at = 0
    while at < len(body):
        code, length = struct.unpack_from("<HH", body, at)
        at += 4
        if code == 0:
            assert length == 0
            assert at == len(body)
            return found
        found[code] = body[at : at + length]
        padded = -length % 4
        assert body[at + length : at + length + padded] == bytes(padded)
        at += length + padded
    raise AssertionError("options do not end")


def blocks(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of each block; lengths at both ends agree, and fill the file."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        assert length % 4 == 0
        assert length >= 12
        assert struct.unpack_from("<I", capture, at + length - 4) == (length,)
        yield kind, capture[at + 8 : at + length - 4]
        at += length
    assert at == len(capture)


def sum16(data: bytes) -> int:
    """The one's complement sum of RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = int(sum(struct.unpack(f">{len(data) // 2}H", data)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.fixture(scope="module")
def capture(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of a run."""
    directory = tmp_path_factory.mktemp("capture")
    (directory / "lab.toml").write_text(SCENARIO)
    arguments = ["run", "lab.toml", "--trace", "pcapng", "run.pcapng"]
    subprocess.run([str(command), *arguments], cwd=directory, check=True)
    return directory / "run.pcapng"


def packets(path: Path) -> tuple[list[str], list[Packet], list[dict[int, bytes]]]:
    """Names of the interfaces, packets, and what the interfaces counted."""
    names, found, statistics = [], [], []
    for kind, body in blocks(path.read_bytes()):
        if kind == SECTION:
            assert body[:8] == struct.pack("<IHH", 0x1A2B3C4D, 1, 0)
            options(body[16:])
        elif kind == INTERFACE:
            link_type, reserved, snaplen = struct.unpack_from("<HHI", body)
            assert (link_type, reserved) == (101, 0)
            assert snaplen >= 40
            chosen = options(body[8:])
            assert chosen[9] == b"\x09", "nanoseconds"
            names.append(chosen[2].decode())
        elif kind == PACKET:
            interface, high, low, captured, length = struct.unpack_from("<5I", body)
            end = 20 + captured + -captured % 4
            found.append(
                Packet(
                    interface,
                    high << 32 | low,
                    length,
                    body[20 : 20 + captured],
                    options(body[end:]),
                )
            )
        elif kind == STATISTICS:
            statistics.append(options(body[12:]))
    return names, found, statistics


def test_every_block_and_every_header_is_valid(capture: Path) -> None:
    names, found, statistics = packets(capture)
    assert len(names) == len(set(names)) == len(statistics)
    assert [p.ns for p in found] == sorted(p.ns for p in found)
    for packet in found:
        data = packet.data
        assert data[0] == 0x45
        assert sum16(data[:20]) == 0xFFFF
        total = struct.unpack_from(">H", data, 2)[0]
        assert total == packet.length
        # The payload is zeros, which adds nothing to the sum.
        behind = data[20:]
        pseudo = data[12:20] + struct.pack(">BBH", 0, data[9], total - 20)
        assert sum16(pseudo + behind) == 0xFFFF
        if data[9] == 17:
            assert struct.unpack_from(">H", behind, 4)[0] == total - 20
            assert len(behind) == 8
        else:
            assert data[9] == 6
            assert len(behind) == (behind[12] >> 4) * 4


def test_dropped_packets_are_counted_and_named(capture: Path) -> None:
    names, found, statistics = packets(capture)
    dropped: collections.Counter[int] = collections.Counter()
    for packet in found:
        if 4 in packet.options:
            dropped[packet.interface] += struct.unpack("<Q", packet.options[4])[0]
            assert b"dropped before it" in packet.options[1]
    assert sum(dropped.values()) > 0
    for number, counted in enumerate(statistics):
        received, lost = (struct.unpack("<Q", counted[code])[0] for code in (4, 5))
        sent = sum(packet.interface == number for packet in found)
        assert received == sent + lost
        assert 0 <= lost - dropped[number] <= 10, names[number]


def tshark(*arguments: str) -> tuple[str, str]:
    """What tshark prints, without what it says to a superuser."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    noise = ("Running as user",)
    complaints = [
        line for line in result.stderr.splitlines() if line and not line.startswith(noise)
    ]
    return result.stdout, "\n".join(complaints)


def test_tshark_reads_a_capture_without_a_warning_and_counts_the_same(
    capture: Path, command: Path
) -> None:
    fields = ["frame.interface_id", "ip.src", "ip.dst", "ip.len", "ip.checksum.status"]
    fields += ["tcp.checksum.status", "udp.checksum.status", "_ws.malformed"]
    arguments = [f"-e{field}" for field in fields]
    checks = ["-oip.check_checksum:TRUE", "-otcp.check_checksum:TRUE", "-oudp.check_checksum:TRUE"]
    printed, complaints = tshark("-r", str(capture), "-Tfields", *checks, *arguments)
    assert complaints == ""
    counted: collections.Counter[tuple[str, str, str]] = collections.Counter()
    bytes_of: collections.Counter[tuple[str, str, str]] = collections.Counter()
    names, _, _ = packets(capture)
    for line in printed.splitlines():
        interface, source, destination, length, ip, *_, malformed = line.split("\t")
        assert ip == "1", "good"
        assert malformed == ""
        key = (names[int(interface)], source, destination)
        counted[key] += 1
        bytes_of[key] += int(length)
    arguments = ["trace", "analyse", str(capture), "--format", "json"]
    result = subprocess.run([str(command), *arguments], capture_output=True, text=True, check=True)
    ours: collections.Counter[tuple[str, str, str]] = collections.Counter()
    our_bytes: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for row in json.loads(result.stdout)["tables"]["conversations"]:
        ends = (row[end].partition(":")[0] for end in ("source", "destination"))
        key = (row["interface"], *ends)
        ours[key] += row["packets"]
        our_bytes[key] += row["bytes"]
    assert ours == counted
    assert our_bytes == bytes_of


def test_tsharks_conversations_are_ours(capture: Path, command: Path) -> None:
    # At the bottleneck and back.
    names, _, _ = packets(capture)
    ids = [names.index(name) for name in ("left-right", "right-left")]
    chosen = f"frame.interface_id in {{{ids[0]}, {ids[1]}}}"
    printed, complaints = tshark("-r", str(capture), "-q", "-z", f"conv,tcp,{chosen}")
    assert complaints == ""
    pattern = re.compile(r"(\S+)\s+<->\s+(\S+)\s+(\d+)\s+[\d.,]+\s+\S+\s+(\d+)\s")
    theirs = {}
    for line in printed.splitlines():
        if found := pattern.match(line):
            one, other, back, forth = found.groups()
            theirs[one, other] = int(forth)
            theirs[other, one] = int(back)
    assert len(theirs) == 4, "two connections, both ways"
    arguments = ["trace", "analyse", str(capture), "--format", "json", "--table", "conversations"]
    result = subprocess.run([str(command), *arguments], capture_output=True, text=True, check=True)
    ours: collections.Counter[tuple[str, str]] = collections.Counter()
    for row in json.loads(result.stdout)["tables"]["conversations"]:
        if row["protocol"] == "tcp" and row["interface"] in ("left-right", "right-left"):
            ours[row["source"], row["destination"]] += row["packets"]
    assert ours == theirs
