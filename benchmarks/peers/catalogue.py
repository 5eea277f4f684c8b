"""List the compared proxies in the order of their columns, and how to warm up each proxy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers import direct, envoy, litellm, mitmdump, nginx_lua, nginx_plain, portkey, relaybook
from benchmarks.peers.peer import Peer, Upstream

RELAYBOOK = ("Relaybook, process", "Relaybook, power", "Relaybook, compiled")


@dataclass(frozen=True)
class Entry:
    """One column. ``start`` may raise ``NotInstalled``. The path argument of ``start`` is a new directory within the
    directory of the run."""

    name: str
    start: Callable[[Bench, Path, Upstream], Peer]
    #: Seconds of load at 32 connections before the first measurement. Proxies with a JIT compiler need more.
    warm_up_s: float
    #: Whether the proxy must forward the upstream's bytes unchanged. Otherwise only the content must be equal.
    keeps_bytes: bool = True
    #: Whether starting takes several seconds. In a quick run, a proxy that starts slowly is started only once.
    starts_slowly: bool = False


ENTRIES = (
    Entry("direct", direct.start, 1),
    Entry("nginx", nginx_plain.start, 1),
    Entry("nginx + Lua log", nginx_lua.start, 1),
    Entry("Envoy", envoy.start, 1),
    Entry(RELAYBOOK[0], relaybook.start("process"), 1),
    Entry(RELAYBOOK[1], relaybook.start("power"), 1),
    Entry(RELAYBOOK[2], relaybook.start_compiled, 1),
    Entry("mitmdump", mitmdump.start, 2),
    Entry("Portkey", portkey.start, 5, keeps_bytes=False),
    Entry("LiteLLM", litellm.start, 3, keeps_bytes=False, starts_slowly=True),
)
