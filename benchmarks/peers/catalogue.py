"""Which proxies are compared, in the order of their columns, and what each needs to be warm."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers import direct, envoy, litellm, nginx_lua, nginx_plain, portkey, relaybook
from benchmarks.peers.peer import Peer, Upstream

RELAYBOOK = ("Relaybook, process", "Relaybook, power", "Relaybook, compiled")


@dataclass(frozen=True)
class Entry:
    """One column. ``start`` raises ``NotInstalled``; its place is a new directory below that of the run."""

    name: str
    start: Callable[[Bench, Path, Upstream], Peer]
    #: Seconds of load at 32 connections before the first measurement: what compiles while it runs needs more.
    warm_up_s: float
    #: Whether the provider's bytes must come out as they went in; else only what they say.
    keeps_bytes: bool = True
    #: Whether starting it takes several seconds: it is started once only in a quick run.
    starts_slowly: bool = False


ENTRIES = (
    Entry("direct", direct.start, 1),
    Entry("nginx", nginx_plain.start, 1),
    Entry("nginx + Lua log", nginx_lua.start, 1),
    Entry("Envoy", envoy.start, 1),
    Entry(RELAYBOOK[0], relaybook.start("process"), 1),
    Entry(RELAYBOOK[1], relaybook.start("power"), 1),
    Entry(RELAYBOOK[2], relaybook.start_compiled, 1),
    Entry("Portkey", portkey.start, 5, keeps_bytes=False),
    Entry("LiteLLM", litellm.start, 3, keeps_bytes=False, starts_slowly=True),
)
