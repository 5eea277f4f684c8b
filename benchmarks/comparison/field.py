"""Run all compared proxies in front of one upstream, measure their CPU time, and wait until they are idle."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from benchmarks.bench import ROLES, Bench
from benchmarks.comparison.address import ProviderAddress
from benchmarks.comparison.check import EVENTS, Broken, check
from benchmarks.comparison.result import Comparison
from benchmarks.peers.catalogue import ENTRIES, Entry
from benchmarks.peers.peer import NotInstalled, Peer, Upstream
from benchmarks.peers.relaybook import RelaybookPeer
from benchmarks.process_cpu import cpu_seconds

_LOOK_S = 0.2
_QUIET_S = 0.05
_QUIET_CPU_S = 0.015
_PATIENCE_S = 60.0


class Field:
    """The running proxies, all of which have been checked. ``result.skipped`` lists the proxies that cannot run."""

    def __init__(self, bench: Bench, result: Comparison, provider: ProviderAddress) -> None:
        self.bench = bench
        self.result = result
        self.provider = provider
        self.peers: dict[str, Peer] = {}
        #: The highest requests per second so far, by name.
        self.rates: dict[str, float] = {}
        self._stack = ExitStack()
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        self.provider.events(EVENTS, 5)
        made = []
        for entry in ENTRIES:
            if entry.name not in self.result.skipped and (peer := self.start(entry, "side-by-side")) is not None:
                made.append((entry, peer))
        for entry, peer in made:
            if self.enter(entry, peer, self._stack):
                self.peers[entry.name] = peer
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, entry: Entry, what: str, upstream: Upstream | None = None) -> Peer | None:
        """Start another instance of a proxy. If the proxy cannot run, store the reason and return `None`."""
        place = self.bench.place(f"{what}-{entry.name.replace(' ', '').replace(',', '-').replace('+', '-')}")
        try:
            return entry.start(self.bench, place, upstream or Upstream(self.provider.port))
        except (NotInstalled, OSError, AssertionError) as error:
            self._skip(entry, error)
            return None

    def enter(self, entry: Entry, peer: Peer, stack: ExitStack) -> bool:
        """Wait until a proxy responds, and check the proxy. If the check fails, stop the proxy and store the reason."""
        with ExitStack() as own:
            try:
                own.enter_context(peer)
                answered = check(peer, entry.keeps_bytes)
            except (NotInstalled, Broken, OSError, AssertionError) as error:
                self._skip(entry, error)
                return False
            stack.enter_context(own.pop_all())
        self.result.columns[entry.name] = peer.version
        self.result.rounds.append({"what": "check", "proxy": entry.name, "answered": answered})
        print(f"  {entry.name} {peer.version}: {answered}", flush=True)
        return True

    def turns(self) -> Iterator[tuple[str, Peer]]:
        """Yield every proxy once. After each turn, wait until the proxy is idle."""
        for name, peer in self.peers.items():
            yield name, peer
            rest(peer)

    def rounds(self, wanted: int, until_s: float) -> Iterator[int]:
        """Yield up to ``wanted`` round numbers, but only one in a quick run.

        After ``until_s`` seconds from the start, no further round is started.
        """
        for number in range(1 if self.bench.quick else wanted):
            if number and time.monotonic() - self._began > until_s:
                return
            yield number

    def to_start_anew(self) -> list[Entry]:
        """Return the checked proxies for measurements that restart proxies.

        A quick run omits proxies that start slowly.
        """
        known = [entry for entry in ENTRIES if entry.name in self.peers and entry.name != "direct"]
        return [entry for entry in known if not (self.bench.quick and entry.starts_slowly)]

    def _skip(self, entry: Entry, error: Exception) -> None:
        self.result.skipped[entry.name] = str(error).replace("|", "/").replace("\n", " ")[:200]
        print(f"  {entry.name} is left out: {self.result.skipped[entry.name]}", flush=True)


@dataclass(frozen=True)
class Spent:
    """The CPU seconds of a proxy since its start, in total and for each of Relaybook's roles."""

    whole: float
    roles: dict[str, float]


def spent(peer: Peer) -> Spent:
    """Return the CPU seconds that a proxy has used so far."""
    roles = {role: cpu_seconds(peer.pid_of(role)) for role in ROLES} if isinstance(peer, RelaybookPeer) else {}
    return Spent(sum(map(cpu_seconds, peer.pids())), roles)


def rest(peer: Peer) -> None:
    """Wait until a proxy is idle, which means that its log is complete and it uses almost no CPU time."""
    until = time.monotonic() + _PATIENCE_S
    if isinstance(peer, RelaybookPeer):
        while peer.lag_bytes() and time.monotonic() < until:
            time.sleep(_LOOK_S)
    pids = peer.pids()
    while pids and time.monotonic() < until:
        before = sum(map(cpu_seconds, pids))
        time.sleep(_QUIET_S)
        if sum(map(cpu_seconds, pids)) - before < _QUIET_CPU_S:
            return
