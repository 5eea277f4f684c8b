"""A provider whose name has several addresses, some of them dead: what is tried, how often, and for how long.

The name stands in a hosts file of the server's own, laid over the system's in a mount namespace.
"""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.crash.strace import Tracer
from tests.support.needs import needs
from tests.support.raw_http import Response, send_request
from tests.support.server import Server, SimulatedProvider
from tests.support.simulated_upstream import Ledger

NAME: Final = "provider.test"
#: The second one is the provider's; at the others nothing listens, unless a test says so.
ADDRESSES: Final = ("127.0.0.41", "127.0.0.42", "127.0.0.43")
DEAD, ALIVE, DEAD_TOO = ADDRESSES
PATIENCE_SECONDS: Final = 60


def under_hosts(directory: Path, addresses: Sequence[str]) -> tuple[str, ...]:
    """The command that gives a program a hosts file in which the name has these addresses, in this order."""
    hosts = directory / "hosts"
    hosts.write_text("".join(f"{address} {NAME}\n" for address in addresses))
    script = 'mount --bind "$0" /etc/hosts && exec "$@"'
    return ("unshare", "--map-root-user", "--mount", "sh", "-c", script, str(hosts))


def resolved(directory: Path, addresses: Sequence[str]) -> list[str]:
    """What a program under it is told when it asks for the name."""
    asked = [*under_hosts(directory, addresses), "getent", "ahostsv4", NAME]
    lines = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines if "STREAM" in line]


def names_can_be_given() -> bool:
    """Whether this system lets us do that."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--map-root-user", "--mount", "mount", "--bind", "/etc/hosts", "/etc/hosts"]
    return subprocess.run(tried, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not names_can_be_given(), reason="needs Linux with mount namespaces")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[SimulatedProvider]:
    with SimulatedProvider(tmp_path, "--listen", f"{ALIVE}:0") as started:
        yield started


def port_of(provider: SimulatedProvider) -> int:
    return int(provider.url.removesuffix("/v1").rpartition(":")[2])


@contextmanager
def taken(port: int, *addresses: str) -> Iterator[None]:
    """The port belongs to us at these addresses, and nothing listens: the system refuses every connection."""
    with ExitStack() as stack:
        for address in addresses:
            stack.enter_context(socket.socket()).bind((address, port))
        yield


@contextmanager
def silent(port: int, address: str) -> Iterator[None]:
    """At this address somebody listens who never accepts, and his backlog is full: nobody gets an answer."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((address, port), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield


@contextmanager
def a_server(directory: Path, port: int, addresses: Sequence[str], *flags: str) -> Iterator[Server]:
    under = under_hosts(directory, addresses)
    with Server(directory, f"http://{NAME}:{port}/v1", *flags, under=under) as server:
        yield server


def is_unreachable(server: Server, answer: Response) -> None:
    assert (answer.status, answer.error["code"]) == (502, "upstream_unreachable")
    record = server.record(answer.header("service-request-id") or "", PATIENCE_SECONDS)
    assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_unreachable")


def test_dead_addresses_before_a_living_one_cost_the_caller_nothing(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    port, ledger, order = port_of(provider), Ledger(provider), (DEAD, DEAD_TOO, ALIVE)
    assert resolved(tmp_path, order) == list(order)
    with taken(port, DEAD, DEAD_TOO), a_server(tmp_path, port, order) as server:
        answer = send_request(server.port)
        assert answer.status == 200
        assert len(ledger.requests()) == 1
        assert server.record(answer.header("service-request-id") or "", PATIENCE_SECONDS)["outcome"] == "complete"


@needs("strace")
def test_where_all_addresses_refuse_each_is_tried_once_and_the_caller_is_told(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    port = port_of(provider)
    provider.stop()
    with taken(port, *ADDRESSES), a_server(tmp_path, port, ADDRESSES) as server:
        is_unreachable(server, send_request(server.port))  # the relay is there, and so are its threads
        tracer = Tracer(server.pid_of("relay"), tmp_path, ["connect"])
        is_unreachable(server, send_request(server.port))
        tracer.detach()
    # one that succeeds at once is the resolver's, a datagram socket with which it asks for the way to an address
    tried = [line for line in tracer.lines() if f"htons({port})" in line and not line.endswith("= 0")]
    assert [next(each for each in ADDRESSES if f'"{each}"' in line) for line in tried] == list(ADDRESSES)


def test_a_silent_address_does_not_cost_the_living_one_behind_it(tmp_path: Path, provider: SimulatedProvider) -> None:
    """The timeout is for all addresses together, each has its part of it."""
    port, ledger = port_of(provider), Ledger(provider)
    with silent(port, DEAD), a_server(tmp_path, port, (DEAD, ALIVE), "--connect-timeout", "1") as server:
        answer = send_request(server.port)
        assert answer.status == 200
        assert len(ledger.requests()) == 1
