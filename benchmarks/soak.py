"""This part measures whether memory, descriptors and journal grow over time.

Mixed traffic runs for 30 minutes. The table compares the medians of the second and the last quarter of this time.
*Descriptors* are open file descriptors, and *journal* is the size of the journal.

``python -m benchmarks.soak --minutes 30`` samples each value every ten seconds. Before the measurement, requests at a
higher rate fill the recorder's page cache of the store (64 MiB, about 1 KiB per request). Otherwise, the filling cache
would look like growth for an hour. The exit code is 1 if a metric grew by more than 5 %, a process died, or a client
received an unexpected response.
"""

import argparse
import asyncio
import signal
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvloop
from tests.support.server import SimulatorProcess

from benchmarks.bench import ROLES, Bench, Relaybook
from benchmarks.machine import describe_machine, load_average, now, uncommitted
from benchmarks.process_cpu import resident_kib
from benchmarks.results.figures import Result
from benchmarks.results.kept import keep
from benchmarks.results.tables import table
from benchmarks.traffic.caller import PacedClient
from benchmarks.traffic.mixed import CALLERS, KINDS, Traffic
from relaybook.system import disk

#: Shorter runs only test the script and keep no results.
KEPT_FROM_MINUTES: Final = 30.0
MOST_GROWTH_PERCENT: Final = 5.0
_SAMPLE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 2.0
_WARM_UP_REQUESTS: Final = 70_000
_WARM_UP_PER_SECOND: Final = 400.0
_SOURCE: Final = Path(__file__).parent.parent / "src"
#: Growth that is allowed in addition to the percentage. One or two additional descriptors may belong to running
#: requests.
_SPARE: Final = {"descriptors": 2.0, "memory, MiB": 0.0, "bytes, MiB": 0.0}
_PATIENCE_SECONDS: Final = 300.0
_PAGES: Final = ("/api/requests?limit=100", "/api/namespaces", "/api/status")

Sample = dict[str, float]


def main() -> int:
    """Return 1 if a metric grew, a process died or a request failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak", description="Check that nothing grows over time."
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="duration; less than 30 keeps no results")
    parser.add_argument("--per-second", type=float, default=20.0, help="requests per second")
    parser.add_argument(
        "--warm-up", type=int, default=_WARM_UP_REQUESTS, help="requests sent before; 0 to try the script"
    )
    wanted = parser.parse_args()
    if wanted.minutes < 1:
        parser.error(f"--minutes must be at least 1, not {wanted.minutes:g}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every program started here is stopped
    machine, began, load = describe_machine(sys.executable, _SOURCE), now(), load_average()
    with tempfile.TemporaryDirectory(prefix="relaybook-soak-") as directory:
        bench = Bench(Path(directory), sys.executable, _SOURCE)
        result, faults = _soak(bench, wanted.minutes * 60, wanted.per_second, wanted.warm_up)
    loads = (load, load_average())
    if wanted.minutes >= KEPT_FROM_MINUTES and not uncommitted(_SOURCE):
        print(f"written to {keep(result, machine, began, loads)}")
    print("\n".join(table(result.plain())))
    print(f"load average before and after: {loads[0]:g} and {loads[1]:g}")
    faults += [_grew(each.what, each.value) for each in result.figures if each.reached is False]
    print("\n".join(faults) if faults else f"Nothing grew by more than {MOST_GROWTH_PERCENT:g} %.")
    return 1 if faults else 0


def _grew(what: str, percent: float) -> str:
    return f"{what.partition(':')[0]} grew by {percent:.1f} %: look for what it keeps, and run longer to be sure."


def _soak(bench: Bench, seconds: float, per_second: float, warm_up: int) -> tuple[Result, list[str]]:
    """Return the result with the samples and their growth, and a line for each other problem."""
    method = f"{seconds / 60:g} minutes of {per_second:g} requests/s from {CALLERS} clients: "
    method += ", ".join(f"{each.share} % {each.name}" for each in KINDS) + ". A viewer reads the log every 2 s. "
    method += f"{warm_up:,} complete requests were sent before. Growth compares the median of the samples, one every "
    method += "10 s, of the last quarter with that of the second quarter."
    result = Result("soak", method)
    with (
        SimulatorProcess(bench.place("provider"), "--ledger-mode", "off") as provider,
        Relaybook(bench, "relay", provider.url) as server,
    ):
        _warm_up(server, warm_up)
        traffic = Traffic(server.port, per_second)
        samples = uvloop.run(_run(server, traffic, seconds))
        died = server.events("child_died")
    result.rounds += samples
    _compare(result, samples)
    result.rounds.append({"expected": dict(traffic.expected), "unexpected": dict(traffic.unexpected)})
    print(_responses("answered as they should be", traffic.expected))
    faults = [f"The {each['role']} died with code {each['code']}: see the operator's log." for each in died]
    if traffic.unexpected:
        faults.append(_responses("Callers who got what they should not", traffic.unexpected))
    return result, faults


def _warm_up(server: Relaybook, requests: int) -> None:
    print(f"warming up with {requests:,} requests, {requests / _WARM_UP_PER_SECOND:.0f} s", flush=True)
    uvloop.run(PacedClient(server.port).run(_WARM_UP_PER_SECOND, requests / _WARM_UP_PER_SECOND))
    server.wait_until_recorded(_PATIENCE_SECONDS)


def _responses(what: str, counted: Mapping[str, int]) -> str:
    told = ", ".join(f"{count:,} {name}" for name, count in sorted(counted.items()))
    return f"{what}: {sum(counted.values()):,} ({told})"


async def _run(server: Relaybook, traffic: Traffic, seconds: float) -> list[Sample]:
    asking = asyncio.create_task(traffic.run(seconds))
    looking = asyncio.create_task(_look_on(server.dashboard))
    samples: list[Sample] = []
    began = time.monotonic()
    while not asking.done():
        await asyncio.wait({asking}, timeout=began + (len(samples) + 1) * _SAMPLE_SECONDS - time.monotonic())
        if not asking.done():
            samples.append({"at_s": time.monotonic() - began} | _sample(server))
            print(_line(samples[-1], traffic), flush=True)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    await asking
    return samples


async def _look_on(dashboard: str) -> None:
    """Read the log repeatedly, like a user of the dashboard."""
    while True:
        for page in _PAGES:
            await asyncio.to_thread(_read, dashboard + page)
        await asyncio.sleep(_LOOK_SECONDS)


def _read(url: str) -> None:
    with suppress(OSError), urllib.request.urlopen(url, timeout=30) as answer:
        answer.read()


def _sample(server: Relaybook) -> Sample:
    """Return a sample of all processes, without metrics of a process that is being restarted."""
    found: Sample = {}
    for role in ("supervisor", *ROLES):
        pid = server.process.pid if role == "supervisor" else server.pid_of(role)
        with suppress(OSError):
            found[f"{role}, memory, MiB"] = resident_kib(pid) / 1024
            found[f"{role}, descriptors"] = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    found["journal, bytes, MiB"] = disk.bytes_below(server.data / "journal") / 2**20
    return found


def _line(sample: Sample, traffic: Traffic) -> str:
    memory = " ".join(f"{role} {sample.get(f'{role}, memory, MiB', 0):.1f}" for role in ROLES)
    return f"{sample['at_s']:5.0f} s, {traffic.expected.total():,} answers, MiB: {memory}"


def _compare(result: Result, samples: list[Sample]) -> None:
    quarter = len(samples) // 4
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    for name in (each for each in samples[-1] if each != "at_s"):
        before, after = _median(second, name), _median(last, name)
        growth = 100 * (after - before) / before if after - before > _SPARE[name.partition(", ")[2]] else 0.0
        what = f"{name}: growth from {before:.1f} to {after:.1f}"
        result.add(what, growth, "%", MOST_GROWTH_PERCENT)


def _median(samples: list[Sample], name: str) -> float:
    return statistics.median(each[name] for each in samples if name in each)


if __name__ == "__main__":
    sys.exit(main())
