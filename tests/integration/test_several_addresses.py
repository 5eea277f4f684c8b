"""Connect to an upstream with several addresses, of which some are unreachable.

The tests check which addresses are tried, how often, and for how long. The name of the upstream is in a separate hosts
file. Only the server sees this file, which is mounted over the system's hosts file in a mount namespace.
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
#: The upstream listens on the second address. By default, nothing listens on the other addresses.
ADDRESSES: Final = ("127.0.0.41", "127.0.0.42", "127.0.0.43")
UNREACHABLE, REACHABLE, ALSO_UNREACHABLE = ADDRESSES
TIMEOUT_SECONDS: Final = 60


def under_hosts(directory: Path, addresses: Sequence[str]) -> tuple[str, ...]:
    """Return a command that runs a program with a different hosts file.

    In this file, the name has the given addresses in the given order.
    """
    hosts = directory / "hosts"
    hosts.write_text("".join(f"{address} {NAME}\n" for address in addresses))
    script = 'mount --bind "$0" /etc/hosts && exec "$@"'
    return ("unshare", "--map-root-user", "--mount", "sh", "-c", script, str(hosts))


def resolved(directory: Path, addresses: Sequence[str]) -> list[str]:
    """Return the addresses of the name for a program that runs under this hosts file."""
    requested = [*under_hosts(directory, addresses), "getent", "ahostsv4", NAME]
    lines = subprocess.run(requested, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines if "STREAM" in line]


def can_mount_hosts() -> bool:
    """Return whether this system allows mounting a hosts file in a mount namespace."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    tried = ["unshare", "--map-root-user", "--mount", "mount", "--bind", "/etc/hosts", "/etc/hosts"]
    return subprocess.run(tried, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not can_mount_hosts(), reason="needs Linux with mount namespaces")


@pytest.fixture
def provider() -> Iterator[SimulatedProvider]:
    with SimulatedProvider(host=REACHABLE) as started:
        yield started


def port_of(provider: SimulatedProvider) -> int:
    return int(provider.url.removesuffix("/v1").rpartition(":")[2])


@contextmanager
def reserved(port: int, *addresses: str) -> Iterator[None]:
    """Reserve the port at these addresses without listening, so that the system refuses all connections."""
    with ExitStack() as stack:
        for address in addresses:
            stack.enter_context(socket.socket()).bind((address, port))
        yield


@contextmanager
def unresponsive(port: int, address: str) -> Iterator[None]:
    """Listen at this address with a full backlog and never accept, so that connections get no response."""
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


def assert_unreachable(server: Server, response: Response) -> None:
    assert (response.status, response.error["code"]) == (502, "upstream_unreachable")
    record = server.record(response.header("service-request-id") or "", TIMEOUT_SECONDS)
    assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_unreachable")


def test_unreachable_addresses_before_a_reachable_one_do_not_affect_the_client(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    port, ledger, order = port_of(provider), Ledger(provider), (UNREACHABLE, ALSO_UNREACHABLE, REACHABLE)
    assert resolved(tmp_path, order) == list(order)
    with reserved(port, UNREACHABLE, ALSO_UNREACHABLE), a_server(tmp_path, port, order) as server:
        response = send_request(server.port)
        assert response.status == 200
        assert len(ledger.requests()) == 1
        assert server.record(response.header("service-request-id") or "", TIMEOUT_SECONDS)["outcome"] == "complete"


@needs("strace")
def test_if_all_addresses_refuse_each_is_tried_once_and_the_client_gets_an_error(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    port = port_of(provider)
    provider.stop()
    with reserved(port, *ADDRESSES), a_server(tmp_path, port, ADDRESSES) as server:
        assert_unreachable(server, send_request(server.port))  # ensures that the relay and its threads are running
        tracer = Tracer(server.pid_of("relay"), tmp_path, ["connect"])
        assert_unreachable(server, send_request(server.port))
        tracer.detach()
    # an immediate success is from a datagram socket with which the resolver looks up the route to an address
    tried = [line for line in tracer.lines() if f"htons({port})" in line and not line.endswith("= 0")]
    assert [next(each for each in ADDRESSES if f'"{each}"' in line) for line in tried] == list(ADDRESSES)


def test_an_unresponsive_address_leaves_time_for_the_reachable_one_after_it(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    """The timeout applies to all addresses together, and each address gets a part of the timeout."""
    port, ledger = port_of(provider), Ledger(provider)
    with (
        unresponsive(port, UNREACHABLE),
        a_server(tmp_path, port, (UNREACHABLE, REACHABLE), "--connect-timeout", "1") as server,
    ):
        response = send_request(server.port)
        assert response.status == 200
        assert len(ledger.requests()) == 1
