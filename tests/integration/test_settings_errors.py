"""A server that cannot start prints the reason in one line, exits with code 2, and leaves its data unchanged."""

import hashlib
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.cli.main import main
from relaybook.journal.segment import VERSION
from relaybook.log.store.files import DATABASE
from relaybook.server import program
from relaybook.server.data_directory import DataDirectory


def serve(directory: Path, *flags: str, seconds: float = 20.0, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``relaybook serve``, which must end by itself. By default, it gets free ports and a data directory."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RELAYBOOK_")}
    return subprocess.run(
        [sys.executable, "-m", "relaybook.cli.main", *serve_arguments(flags)],
        cwd=directory,
        env={**environment, "HOME": str(directory), **variables},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def serve_arguments(flags: Sequence[str]) -> list[str]:
    given_flags = {flag for flag in flags if flag.startswith("--")}
    defaults = {"--listen": "127.0.0.1:0", "--dashboard": "127.0.0.1:0", "--data": "data"}
    if "--config" in given_flags:
        del defaults["--data"]
    more = [word for flag, value in defaults.items() if flag not in given_flags for word in (flag, value)]
    return ["serve", *flags, *more]


def test_an_unknown_provider_of_prices_is_refused(tmp_path: Path) -> None:
    refused = serve(tmp_path, "--price-as", "opnai")
    assert refused.returncode == 2
    assert "price_as is 'opnai', but no provider has this name. Did you mean openai?" in refused.stderr
    assert not (tmp_path / "data").exists()


class Loader:
    """Run ``relaybook serve`` in this process, up to the point where the server would start."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        for name in [name for name in os.environ if name.startswith("RELAYBOOK_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(directory))
        monkeypatch.chdir(directory)
        monkeypatch.setattr(program, "serve", lambda _: pytest.fail("the settings were accepted"))

    def serve(self, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)
        arguments = serve_arguments(flags)
        code = main(arguments)
        output = self._capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, output.out, output.err)


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Loader:
    return Loader(tmp_path, monkeypatch, capsys)


def assert_fails(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert that the program printed one line to standard error, exited with code 2 and started no server."""
    lines = ended.stderr.splitlines()
    assert ended.returncode == 2, ended
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("relaybook: ")
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    for word in words:
        assert word in lines[0], lines[0]


def contents(directory: Path) -> dict[str, str]:
    """Return a digest of every file below a directory, except files that SQLite creates only for reading, and the file
    with the state of the running server."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and not path.name.endswith("-shm")]
    files = [path for path in files if path.name != "serve.lock"]
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.stat().st_size or not path.name.endswith("-wal")
    }


#: One error of each kind, and errors that are found only when the server starts: an address, a certificate file.
STARTED_CASES: Final = [
    (("--idle-timout", "3s"), ("--idle-timeout",)),
    (("--listen", "192.0.2.1:4100"), ("listen", "192.0.2.1")),
    (("--listen", "no-such-host.invalid:4100"), ("listen", "no-such-host.invalid")),
    (("--listen", "127.0.0.1:4100", "--upstream", "http://localhost:4100/v1"), ("upstream", "listens on 127.0.0.1")),
    (("--upstream-ca-file", "missing.pem"), ("upstream_ca_file", "missing.pem")),
    (("--upstream-ca-file", "relaybook.txt"), ("upstream_ca_file", "relaybook.txt")),
    (("--config", "broken.toml"), ("broken.toml", "TOML")),
]
#: The other errors of the settings loader. These cases run in the process of the test.
LOADER_CASES: Final = [
    (("--idle-timeout", "soon"), ("--idle-timeout", "soon")),
    (("--idle-timeout", "-1s"), ("idle",)),
    (("--listen", "4100"), ("listen", "host:port")),
    (("--listen", "127.0.0.1:99999"), ("listen", "65535")),
    (("--listen", "a..b:1"), ("listen", "host:port")),
    (("--data", "\udcff"), ("--data", "UTF-8")),
    (("--dashboard-url", "https://a.example/api"), ("dashboard_url", "/logs")),
    (("--upstream", "api.openai.com"), ("upstream", "https://")),
    (("--upstream", "ftp://api.openai.com/v1"), ("upstream",)),
    (("--upstream", "https://user:secret@api.openai.com/v1"), ("upstream",)),
    (("--upstream", "https://:secret@api.openai.com/v1"), ("upstream",)),
    (("--config", "~no-such-user/relaybook.toml"), ("config", "no home directory")),
    (("--upstream", "https://api.openai.com/v1?a=b"), ("upstream",)),
    (("--relay-url", "llm.example.com/v1"), ("relay_url", "https://")),
    (("--workers", "0"), ("workers",)),
    (("--workers", "two"), ("--workers", "two")),
    (("--log", "some"), ("--log", "no-bodies")),
    (("--durability", "full"), ("--durability", "power")),
    (("--header-prefix", "Bad Prefix"), ("header_prefix", "Bad Prefix")),
    (("--segment-bytes", "1KiB"), ("segment_bytes",)),
    (("--max-request-bytes", "big"), ("--max-request-bytes", "big")),
    (("--config", "missing.toml"), ("missing.toml",)),
    (("--config", "unknown.toml"), ("idle_timout", "idle_timeout")),
    (("--config", "wrong.toml"), ("wrong.toml", "workers")),
    (("--dashboard-token", "secret-token"), ("RELAYBOOK_DASHBOARD_TOKEN",)),
    (("--dashboard", "0.0.0.0:0"), ("dashboard", "RELAYBOOK_DASHBOARD_TOKEN")),
    (("extra",), ("extra",)),
]


def case_id(value: tuple[str, ...]) -> str | None:
    return " ".join(value) if value and value[0].startswith(("--", "extra")) else None


@pytest.fixture
def files(tmp_path: Path) -> None:
    """Create the files that the flags of the cases name."""
    (tmp_path / "relaybook.txt").write_text("not a certificate\n")
    (tmp_path / "broken.toml").write_text("workers = = 1\n")
    (tmp_path / "unknown.toml").write_text('idle_timout = "3s"\n')
    (tmp_path / "wrong.toml").write_text('workers = "many"\n')


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("flags", "words"), STARTED_CASES, ids=case_id)
def test_the_error_for_an_invalid_setting_names_it_and_its_valid_values(
    tmp_path: Path, flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    if "--upstream-ca-file" in flags:
        flags = (*flags, "--upstream", "https://127.0.0.1:1/v1")
    ended = serve(tmp_path, *flags)
    assert_fails(ended, *words)
    assert "secret" not in ended.stderr.replace("secret@", "secret") or "--upstream" in flags


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("flags", "words"), LOADER_CASES, ids=case_id)
def test_the_settings_loader_names_an_invalid_setting_and_its_valid_values(
    loader: Loader, flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ended = loader.serve(*flags)
    assert_fails(ended, *words)
    assert "secret" not in ended.stderr.replace("secret@", "secret") or "--upstream" in flags


def test_the_error_for_an_invalid_variable_names_it(loader: Loader) -> None:
    assert_fails(loader.serve(RELAYBOOK_WORKERS="many"), "RELAYBOOK_WORKERS", "many")


def test_the_error_for_an_invalid_secret_names_it_without_its_value(tmp_path: Path, loader: Loader) -> None:
    (tmp_path / "relaybook.toml").write_text("dashboard_token = 12345678\n")
    ended = loader.serve()
    assert_fails(ended, "dashboard_token")
    assert "12345678" not in ended.stderr


def test_the_dashboard_alone_needs_a_log_in_clickhouse_and_the_url_of_the_relays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log = ("--store", "clickhouse://127.0.0.1:1/log")
    assert (main(["dashboard"]), main(["dashboard", *log])) == (2, 2)
    without_store, without_url = capsys.readouterr().err.splitlines()
    assert (
        "Set --store clickhouse://USER@HOST/DATABASE. For a log in the data directory, run relaybook" in without_store
    )
    assert "Set --relay-url to the base URL of the relays" in without_url


def test_a_fingerprint_secret_that_can_be_guessed_is_an_error(loader: Loader) -> None:
    ended = loader.serve(RELAYBOOK_FINGERPRINT_SECRET="hunter2")
    assert_fails(ended, "fingerprint_secret has 7 characters", "openssl rand -hex 32")
    assert "hunter2" not in ended.stderr


@pytest.mark.parametrize("name", ["listen", "dashboard"])
def test_the_error_for_a_port_in_use_names_the_flag_that_changes_it(tmp_path: Path, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert_fails(
            serve(tmp_path, f"--{name}", f"127.0.0.1:{port}"), f"Port {port} is in use", f"--{name} 127.0.0.1:"
        )


def test_relay_and_dashboard_on_one_port_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    assert_fails(serve(tmp_path, "--listen", address, "--dashboard", address), address)


def test_the_error_for_a_data_directory_below_a_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n")
    assert_fails(serve(tmp_path, "--data", "file/data"), "data", "file/data", "--data")
    assert (tmp_path / "file").read_text() == "mine\n"


def test_the_error_for_a_data_directory_that_is_a_file_names_the_flag(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n")
    assert_fails(serve(tmp_path, "--data", "file"), "data", "--data")
    assert (tmp_path / "file").read_text() == "mine\n"


def test_a_second_server_on_the_same_data_is_rejected_and_the_first_keeps_running(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        ids = [send_request(server.port).header("service-request-id") or ""]
        assert_fails(serve(tmp_path, "--data", str(server.data)), str(server.data), "--data")
        ids.append(send_request(server.port).header("service-request-id") or "")
        for request_id in ids:
            assert server.record(request_id)["outcome"] == "complete"


@pytest.fixture(scope="module")
def data_of_killed_server(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the data directory of a killed server and the id of its one recorded request. The journal still exists."""
    directory = tmp_path_factory.mktemp("killed")
    with SimulatedProvider() as provider:
        server = Server(directory, provider.url)
        request_id = send_request(server.port).header("service-request-id") or ""
        server.record(request_id)
        children = [server.pid_of(role) for role in ("relay", "recorder", "dashboard")]
        os.kill(children[1], 9)  # otherwise the recorder would delete the journal
        server.kill()
        for pid in children:
            wait_for_end(pid)
    return server.data, request_id


@pytest.fixture
def used_data(data_of_killed_server: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """Return a copy of the killed server's data directory, and the id of the request."""
    data, request_id = data_of_killed_server
    return Path(shutil.copytree(data, tmp_path / "used")), request_id


def wait_for_end(pid: int) -> None:
    """Wait until a child process of the server has ended by itself.

    The process is not a child of this process.
    """

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
    """Write a version into every segment of the journal. The journal must have at least one segment."""
    segments = list(DataDirectory(data).journal.rglob("*.segment"))
    assert segments
    for segment in segments:
        with segment.open("r+b") as file:
            file.seek(8)
            file.write(version.to_bytes(4, "little"))


def set_store_version(data: Path, version: int) -> int:
    """Write a version into the store's database, and return the previous version."""
    connection = sqlite3.connect(DataDirectory(data).store / DATABASE)
    (before,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return int(before)


def assert_starts_again(directory: Path, data: Path, request_id: str) -> None:
    with Server(directory, "http://127.0.0.1:1/v1", data=data) as server:
        assert server.record(request_id, seconds=30)["outcome"] == "complete"


def test_a_journal_of_a_later_version_is_left_unchanged(tmp_path: Path, used_data: tuple[Path, str]) -> None:
    data, request_id = used_data
    set_journal_version(data, VERSION + 1)
    before = contents(data)
    assert_fails(serve(tmp_path, "--data", str(data)), "version", str(VERSION + 1))
    assert contents(data) == before
    set_journal_version(data, VERSION)
    assert_starts_again(tmp_path, data, request_id)


def test_a_store_of_a_later_version_is_left_unchanged(tmp_path: Path, used_data: tuple[Path, str]) -> None:
    data, request_id = used_data
    version = set_store_version(data, 999)
    before = contents(data)
    assert_fails(serve(tmp_path, "--data", str(data)), "version", "999")
    assert contents(data) == before
    set_store_version(data, version)
    assert_starts_again(tmp_path, data, request_id)


def test_a_dashboard_that_others_can_reach_starts_with_a_token(tmp_path: Path) -> None:
    env = {**os.environ, "RELAYBOOK_DASHBOARD_TOKEN": "a-token-for-the-dashboard"}
    flags = ("--listen", "127.0.0.1:0", "--dashboard", "0.0.0.0:0")
    with Server(tmp_path, "http://127.0.0.1:1/v1", *flags, env=env) as server:
        assert server.process.poll() is None
        assert "a-token-for-the-dashboard" not in server.stdout + server.stderr
