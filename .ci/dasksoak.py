"""Kills workers of a Dask cluster in the middle of runs, many times, and compares the results with those of one machine: `make dask-soak`.

A kill counts only if it hits a run. A worker is stopped first. If the scheduler still waits for its batch afterwards, no result is on
the way, and the worker is killed; else it goes on.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client

import daskcluster as dc

WORKERS = 2

ARRIVAL = 0.1
"""Seconds after which a result that a worker has sent is at the scheduler."""


def main() -> int:
    """Kills workers until there were enough kills; fails if a study ends otherwise than on one machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    kills = studies = 0
    with tempfile.TemporaryDirectory(prefix="sojourn-dask-") as name:
        folder = Path(name)
        study = dc.study(folder, "3000s", 40)
        expected = once(study, folder / "here")
        while kills < given.kills:
            out = folder / f"there-{studies}"
            kills += with_kills(folder, study, out, given.kills - kills, chance)
            studies += 1
            if dc.content(out) != expected:
                print(f"study {studies} differs after {kills} kills, seed {given.seed}")
                return 1
            print(f"{kills} kills, {studies} studies: the same bits", flush=True)
    return 0


def once(study: Path, out: Path) -> dict[str, bytes]:
    """The results of one machine."""
    status, err = finished(dc.begin(study, out))
    if status != 0:
        sys.exit(err)
    return dc.content(out)


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=600)
    return process.returncode, err


def with_kills(folder: Path, study: Path, out: Path, most: int, chance: random.Random) -> int:
    """A study during which workers are killed and others join; how many were killed in the middle of a run."""
    kills = 0
    with dc.cluster(folder) as cluster, Client(cluster.address) as client:
        for _ in range(WORKERS):
            cluster.join()
        process = dc.begin(study, out, "--dask", cluster.address)
        dc.wait(lambda: dc.runs(out) > 0 or process.poll() is not None, "no run")
        while process.poll() is None and kills < most:
            time.sleep(chance.uniform(0.1, 2.5))
            victim = chance.choice(cluster.workers)
            if process.poll() is None and killed_in_a_run(cluster, client, victim):
                kills += 1
                cluster.join()
        status, err = finished(process)
    if status != 0:
        sys.exit(f"after {kills} kills: {err}")
    return kills


def killed_in_a_run(cluster: dc.Cluster, client: Client, victim: subprocess.Popen[bytes]) -> bool:
    """Kills a worker if it has a run under way; whether it did."""
    victim.send_signal(signal.SIGSTOP)
    time.sleep(ARRIVAL)
    if not batches(client, cluster.names[victim.pid]):
        victim.send_signal(signal.SIGCONT)
        return False
    dc.kill(victim)
    cluster.workers.remove(victim)
    return True


def batches(client: Client, name: str) -> list[str]:
    """What the scheduler waits for from a worker; nothing from one that has not joined yet."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    addresses = [address for address, worker in workers.items() if worker["name"] == name]
    given = client.processing()
    return [key for address in addresses for key in given.get(address, ())]


if __name__ == "__main__":
    sys.exit(main())
