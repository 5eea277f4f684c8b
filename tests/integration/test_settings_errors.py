"""A server that cannot start says why in one clear line, ends with code 2, and has damaged nothing."""

import hashlib
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.journal.segment import VERSION
from relaybook.log.store.sqlite.connection import DATABASE
from relaybook.server.data_directory import DataDirectory


def serve(directory: Path, *flags: str, seconds: float = 20.0, **variables: str) -> subprocess.CompletedProcess[str]:
    """``relaybook serve`` that is expected to end by itself. Free ports and a data directory unless told otherwise."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RELAYBOOK_")}
    given = {flag for flag in flags if flag.startswith("--")}
    usual = {"--listen": "127.0.0.1:0", "--dashboard": "127.0.0.1:0", "--data": "data"}
    if "--config" in given:
        del usual["--data"]
    more = [word for flag, value in usual.items() if flag not in given for word in (flag, value)]
    return subprocess.run(
        [sys.executable, "-m", "relaybook.cli.main", "serve", *flags, *more],
        cwd=directory,
        env={**kept, "HOME": str(directory), **variables},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def says_why(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """One line on standard error, code 2, and nothing that looks like it had started."""
    lines = ended.stderr.splitlines()
    assert ended.returncode == 2, ended
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("relaybook: ")
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    for word in words:
        assert word in lines[0], lines[0]


def contents(directory: Path) -> dict[str, str]:
    """Every file below with the digest of what is in it, but for the empty ones SQLite makes in order to read."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and not path.name.endswith("-shm")]
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.stat().st_size or not path.name.endswith("-wal")
    }


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--idle-timout", "3s"), ("--idle-timeout",)),
        (("--idle-timeout", "soon"), ("--idle-timeout", "soon")),
        (("--idle-timeout", "-1s"), ("idle",)),
        (("--listen", "4100"), ("listen", "host:port")),
        (("--listen", "127.0.0.1:99999"), ("listen", "65535")),
        (("--listen", "192.0.2.1:4100"), ("listen", "192.0.2.1")),
        (("--listen", "no-such-host.invalid:4100"), ("listen", "no-such-host.invalid")),
        (("--upstream", "api.openai.com"), ("upstream", "https://")),
        (("--upstream", "ftp://api.openai.com/v1"), ("upstream",)),
        (("--upstream", "https://user:secret@api.openai.com/v1"), ("upstream",)),
        (("--upstream", "https://api.openai.com/v1?a=b"), ("upstream",)),
        (("--upstream-ca-file", "missing.pem"), ("upstream_ca_file", "missing.pem")),
        (("--upstream-ca-file", "relaybook.txt"), ("upstream_ca_file", "relaybook.txt")),
        (("--workers", "0"), ("workers",)),
        (("--workers", "two"), ("--workers", "two")),
        (("--log", "some"), ("--log", "no-bodies")),
        (("--durability", "full"), ("--durability", "power")),
        (("--header-prefix", "Bad Prefix"), ("header_prefix", "Bad Prefix")),
        (("--segment-bytes", "1KiB"), ("segment_bytes",)),
        (("--max-request-bytes", "big"), ("--max-request-bytes", "big")),
        (("--config", "missing.toml"), ("missing.toml",)),
        (("--config", "broken.toml"), ("broken.toml", "TOML")),
        (("--config", "unknown.toml"), ("idle_timout", "idle_timeout")),
        (("--config", "wrong.toml"), ("wrong.toml", "workers")),
        (("--dashboard-token", "secret-token"), ("RELAYBOOK_DASHBOARD_TOKEN",)),
        (("--dashboard", "0.0.0.0:0"), ("dashboard", "RELAYBOOK_DASHBOARD_TOKEN")),
        (("extra",), ("extra",)),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith(("--", "extra")) else None,
)
def test_a_wrong_setting_is_named_with_what_it_takes(
    tmp_path: Path, flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    (tmp_path / "relaybook.txt").write_text("not a certificate\n")
    (tmp_path / "broken.toml").write_text("workers = = 1\n")
    (tmp_path / "unknown.toml").write_text('idle_timout = "3s"\n')
    (tmp_path / "wrong.toml").write_text('workers = "many"\n')
    if "--upstream-ca-file" in flags:
        flags = (*flags, "--upstream", "https://127.0.0.1:1/v1")
    ended = serve(tmp_path, *flags)
    says_why(ended, *words)
    assert "secret" not in ended.stderr.replace("secret@", "secret") or "--upstream" in flags


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    says_why(serve(tmp_path, RELAYBOOK_WORKERS="many"), "RELAYBOOK_WORKERS", "many")


def test_a_wrong_secret_is_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text("dashboard_token = 12345678\n")
    ended = serve(tmp_path)
    says_why(ended, "dashboard_token")
    assert "12345678" not in ended.stderr


@pytest.mark.parametrize("name", ["listen", "dashboard"])
def test_a_taken_port_is_named_with_the_flag_that_changes_it(tmp_path: Path, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        says_why(serve(tmp_path, f"--{name}", f"127.0.0.1:{port}"), f"Port {port} is in use", f"--{name} 127.0.0.1:")


def test_relay_and_dashboard_on_one_port_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    says_why(serve(tmp_path, "--listen", address, "--dashboard", address), address)


def test_a_data_directory_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n")
    says_why(serve(tmp_path, "--data", "file/data"), "data", "file/data", "--data")
    assert (tmp_path / "file").read_text() == "mine\n"


def test_a_data_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n")
    says_why(serve(tmp_path, "--data", "file"), "data", "--data")
    assert (tmp_path / "file").read_text() == "mine\n"


def test_a_second_server_on_the_same_data_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        ids = [send_request(server.port).header("service-request-id") or ""]
        says_why(serve(tmp_path, "--data", str(server.data)), str(server.data), "--data")
        ids.append(send_request(server.port).header("service-request-id") or "")
        for request_id in ids:
            assert server.record(request_id)["outcome"] == "complete"


def used_data(directory: Path) -> tuple[Path, str]:
    """A data directory with a journal and one recorded request, left by a server that was killed; and its id."""
    with SimulatedProvider(directory) as provider:
        server = Server(directory, provider.url)
        request_id = send_request(server.port).header("service-request-id") or ""
        server.record(request_id)
        children = [server.pid_of(role) for role in ("relay", "recorder", "dashboard")]
        os.kill(children[1], 9)  # or it would remove the journal
        server.kill()
        for pid in children:
            wait_for_end(pid)
    return server.data, request_id


def wait_for_end(pid: int) -> None:
    """Until a process that is not our child has ended: the server's children end by themselves."""

    def has_ended() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return not Path("/proc").exists()

    wait_until(has_ended, what=f"the end of {pid}")


def set_journal_version(data: Path, version: int) -> None:
    """Writes a version into every segment of the journal; there must be some."""
    segments = list(DataDirectory(data).journal.rglob("*.segment"))
    assert segments
    for segment in segments:
        with segment.open("r+b") as file:
            file.seek(8)
            file.write(version.to_bytes(4, "little"))


def set_store_version(data: Path, version: int) -> int:
    """Writes a version into the store's database; the one it had."""
    connection = sqlite3.connect(DataDirectory(data).store / DATABASE)
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return int(before)


def starts_again(directory: Path, data: Path, request_id: str) -> None:
    with Server(directory, "http://127.0.0.1:1/v1", data=data) as server:
        assert server.record(request_id, seconds=30)["outcome"] == "complete"


def test_a_journal_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    data, request_id = used_data(tmp_path)
    set_journal_version(data, VERSION + 1)
    before = contents(data)
    says_why(serve(tmp_path, "--data", str(data)), "version", str(VERSION + 1))
    assert contents(data) == before
    set_journal_version(data, VERSION)
    starts_again(tmp_path, data, request_id)


def test_a_store_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    data, request_id = used_data(tmp_path)
    version = set_store_version(data, 999)
    before = contents(data)
    says_why(serve(tmp_path, "--data", str(data)), "version", "999")
    assert contents(data) == before
    set_store_version(data, version)
    starts_again(tmp_path, data, request_id)


def test_a_dashboard_that_others_can_reach_starts_with_a_token(tmp_path: Path) -> None:
    env = {**os.environ, "RELAYBOOK_DASHBOARD_TOKEN": "a-token-for-the-dashboard"}
    flags = ("--listen", "127.0.0.1:0", "--dashboard", "0.0.0.0:0")
    with Server(tmp_path, "http://127.0.0.1:1/v1", *flags, env=env) as server:
        assert server.process.poll() is None
        assert "a-token-for-the-dashboard" not in server.stdout + server.stderr
