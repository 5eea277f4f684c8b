"""Relaybook connects only to its upstream. It checks for no updates, sends no telemetry and makes no extra DNS queries.

strace records every connection of Relaybook's processes from start to exit. An unwanted connection would be made at the
start, at the first request, when the page is loaded, or at the exit. The tests also pass in a network namespace that
has only a loopback interface. tests/e2e checks that the page requests nothing from other hosts.
"""

import os
import re
import subprocess
import sys
import urllib.request
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

import pytest
from tests.support.clickhouse.server import needs_clickhouse
from tests.support.needs import needs
from tests.support.raw_http import PATH, send_request
from tests.support.server import Program, Server, wait_until

from relaybook.cli.main import app

#: All system calls that can name a remote address.
CALLS: Final = "connect,sendto,sendmsg,sendmmsg"
#: glibc connects to this socket to find a name service cache. Nothing leaves the machine.
NAME_CACHE: Final = "/var/run/nscd/socket"
NAME_SERVICE: Final = 53
TIMEOUT_SECONDS: Final = 60.0
#: The broadcast address. Linux refuses connections to this address, so nothing leaves the machine.
ELSEWHERE: Final = "255.255.255.255:9"
#: Variables that HTTP libraries read from the environment. The relay and the demo must ignore them.
PROXIES: Final = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"), f"http://{ELSEWHERE}")
#: Executes strace, which executes Relaybook. As a result, Relaybook gets the signals and sets the exit code.
EXEC_STRACE: Final = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
RELAYBOOK: Final = (sys.executable, "-m", "relaybook.cli.main")
#: Commands that end by themselves. In this order, each command finds its files. The words in braces are replaced.
COMMANDS: Final = (
    "config",
    "completion bash",
    "tail --dashboard {dashboard}",
    "show {id} --dashboard {dashboard}",
    "diff {id} {id} --dashboard {dashboard}",
    "export --dashboard {dashboard} --output {exported}",
    "backup {copy} --data {data}",
    "import {exported} --data {copy}",
    "drain --data {copy}",
    "check --data {copy} --upstream {upstream} --listen 127.0.0.1:0 --dashboard 127.0.0.1:0",
    "reload --data {data}",
    "reread --yes --dashboard {dashboard}",
    "delete namespace=dialled --yes --dashboard {dashboard}",
)
#: Commands that run until they are stopped. A separate test runs each command.
LASTING: Final = frozenset({"serve", "dashboard", "demo", "simulate", "replay"})
_ADDRESS: Final = re.compile(
    r'sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"'
)
_PATH: Final = re.compile(r'sa_family=AF_UNIX, sun_path=(@?"[^"]*")')


class Peer(NamedTuple):
    """A network address to which a process connected or sent data."""

    host: str
    port: int


class Traced(Program):
    """A command that runs until it is stopped. All its system calls that can reach a remote address are recorded."""

    def __init__(self, directory: Path, command: str, *flags: str) -> None:
        self._calls = directory / f"{command}.calls"
        listen = () if command == "dashboard" else ("--listen", "127.0.0.1:0")
        relaybook = [*RELAYBOOK, command, *listen, *flags]
        arguments = ["-c", EXEC_STRACE, *strace(self._calls, "-D"), *relaybook]
        Program.__init__(self, arguments, directory, command, os.environ | PROXIES)
        try:
            self.base_url = self.printed(r"(http://\S+/v1)", TIMEOUT_SECONDS)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(TIMEOUT_SECONDS)

    def lines(self) -> list[str]:
        """Stop the program and return the recorded calls of all its processes. The program must exit with status 0."""
        assert self.stop(TIMEOUT_SECONDS) == 0
        last = [str(self.process.pid), "+++ exited with 0 +++"]  # strace pads short pids to five columns
        wait_until(
            lambda: any(line.split(maxsplit=1) == last for line in self._traced()), TIMEOUT_SECONDS, " ".join(last)
        )
        return self._traced()

    def _traced(self) -> list[str]:
        return self._calls.read_text(errors="replace").splitlines()


class TracedServer(Traced, Server):
    """A traced ``relaybook serve`` or ``relaybook demo``."""

    def __init__(self, directory: Path, command: str, *flags: str) -> None:
        self.data = directory / "data"
        flags = ("--data", str(self.data), "--dashboard", "127.0.0.1:0", "--min-free", str(1 << 20), *flags)
        Traced.__init__(self, directory, command, *flags)
        self.base_url = self.printed(r"base URL\s+(\S+)")
        self.dashboard = self.printed(r"dashboard\s+(\S+)")
        self.port = peer_of(self.base_url).port

    def use(self) -> str:
        """Send a request, and load the page and the log. Returns the id of the request."""
        response = send_request(self.port, b"Service-Namespace: dialled")
        assert response.status == 200
        wait_until(lambda: self.records("namespace=dialled"), TIMEOUT_SECONDS, "recording")
        page = urllib.request.Request(self.dashboard, headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"})
        with urllib.request.urlopen(page, timeout=TIMEOUT_SECONDS) as answer:
            assert b"<html" in answer.read()
        assert self.get("/api/status")["records"] >= 1
        return str(response.header("Service-Request-Id"))


def strace(calls: Path, *flags: str) -> list[str]:
    """Return a command that executes another command and writes the system calls of that command to a file."""
    return ["strace", *flags, "-f", "--seccomp-bpf", "-s0", f"--trace={CALLS}", f"--output={calls}"]


def calls_of(command: str, directory: Path, status: int = 0) -> list[str]:
    """Run a command and return its recorded calls. Any exit status other than ``status`` fails the test."""
    calls = directory / "command.calls"
    done = subprocess.run(
        [*strace(calls), *RELAYBOOK, *command.split()],
        env=os.environ | PROXIES,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
    return calls.read_text(errors="replace").splitlines()


def dialled(lines: list[str]) -> set[Peer]:
    """Return all network addresses in the recorded calls, including addresses of this machine."""
    return {Peer(host, int(port)) for line in lines for port, host in _ADDRESS.findall(line)}


def remote_peers(lines: list[str]) -> set[str]:
    """Return the addresses of other machines and name servers, and local sockets other than the name service cache."""
    remote = {f"{host}:{port}" for host, port in dialled(lines) if not is_local(host) or port == NAME_SERVICE}
    return remote | {path for line in lines for path in _PATH.findall(line) if path != f'"{NAME_CACHE}"'}


def is_local(host: str) -> bool:
    address = ip_address(host)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def peer_of(url: str) -> Peer:
    parts = urlsplit(url)
    return Peer(str(parts.hostname), int(parts.port or 0))


@needs("strace")
def test_a_server_and_all_commands_connect_only_to_the_upstream_and_to_each_other(tmp_path: Path) -> None:
    with Traced(tmp_path, "simulate") as provider:
        with TracedServer(tmp_path, "serve", "--upstream", provider.base_url, "--routes", "anthropic,ollama") as server:
            values = {
                "id": server.use(),
                "data": server.data,
                "copy": tmp_path / "copy",
                "exported": tmp_path / "log.jsonl",
                "dashboard": urlsplit(server.dashboard).netloc,
                "upstream": provider.base_url,
            }
            own = {peer_of(server.dashboard), peer_of(provider.base_url)}
            for command in COMMANDS:
                lines = calls_of(command.format_map(values), tmp_path)
                assert (command, remote_peers(lines), dialled(lines) - own) == (command, set(), set())
            server.use()  # the earlier request was deleted
            with Traced(tmp_path, "replay", "--dashboard", urlsplit(server.dashboard).netloc) as replay:
                port = peer_of(replay.base_url).port
                assert [send_request(port, path=path).status for path in (PATH, "/v1/other")] == [200, 404]
                assert dialled(replay.lines()) == {peer_of(server.dashboard)}
            lines = server.lines()
            assert remote_peers(lines) == set()
            assert dialled(lines) == {peer_of(provider.base_url)}
        assert dialled(provider.lines()) == set()


def test_no_command_is_left_out() -> None:
    assert {name for name in app if not name.startswith("-")} == {each.split()[0] for each in COMMANDS} | LASTING


@needs("strace")
def test_the_demo_connects_to_no_other_machine(tmp_path: Path) -> None:
    with TracedServer(tmp_path, "demo") as demo:
        demo.use()
        wait_until(lambda: demo.records("namespace=production"), TIMEOUT_SECONDS, "sample traffic")
        lines = demo.lines()
        assert remote_peers(lines) == set()
        assert peer_of(demo.base_url) in dialled(lines)


@needs("strace")
@needs_clickhouse
def test_the_dashboard_alone_connects_only_to_clickhouse(tmp_path: Path) -> None:
    store, relay = Peer("127.0.0.1", 1), "http://127.0.0.1:2/v1"
    flags = ("--store", f"clickhouse://127.0.0.1:{store.port}/log", "--relay-url", relay)
    with Traced(tmp_path, "dashboard", "--data", str(tmp_path / "data"), "--dashboard", "127.0.0.1:0", *flags) as page:
        url = page.printed(r"dashboard\s+(http\S+)")
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(f"{url}/api/status", timeout=TIMEOUT_SECONDS)
        assert dialled(page.lines()) == {store}


@needs("strace")
def test_a_connection_to_another_machine_is_detected(tmp_path: Path) -> None:
    """Without this test, the other tests would pass if strace recorded only connections to this machine."""
    check = f"check --data {tmp_path} --upstream http://{ELSEWHERE}/v1"
    check += " --listen 127.0.0.1:0 --dashboard 127.0.0.1:0"
    assert remote_peers(calls_of(check, tmp_path, status=1)) == {ELSEWHERE}


@pytest.mark.parametrize(
    ("line", "remote"),
    [
        ('1 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("127.0.0.1")}, 16) = 0', set()),
        (
            '1 connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1",'
            " &sin6_addr), sin6_scope_id=0}, 28) = 0",
            set(),
        ),
        (
            '1 connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:'
            'db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (Network is unreachable)',
            {"2001:db8::1:443"},
        ),
        (
            '1 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
            {"127.0.0.53:53"},
        ),
        (
            '1 sendto(3, ""..., 31, MSG_NOSIGNAL, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.'
            '53")}, 16 <unfinished ...>',
            {"192.0.2.53:53"},
        ),
        (
            '1 sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")}'
            ', msg_namelen=16, msg_iov=[{iov_base=""..., iov_len=9}]}}], 1, 0) = 1',
            {"192.0.2.1:9"},
        ),
        ('1 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT', set()),
        (
            '1 connect(3, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0',
            {'"/run/systemd/resolve/io.systemd.Resolve"'},
        ),
        ('1 sendto(3, ""..., 31, MSG_NOSIGNAL, NULL, 0) = 31', set()),
    ],
)
def test_peers_on_other_machines_are_detected(line: str, remote: set[str]) -> None:
    assert remote_peers([line]) == remote
