"""Other users cannot read the data directory, redirect it with links, or get its content from a core dump.

Servers start with a permissive umask, an unlimited core size, and data directories that an attacker has prepared.
"""

import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from tests.support.files import paths_below
from tests.support.needs import PREFIX
from tests.support.raw_http import send_request
from tests.support.server import Program, Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import World

from relaybook.server.data_directory import DataDirectory

_WITHOUT_TOKEN: Final = {name: value for name, value in os.environ.items() if not name.startswith("RELAYBOOK_")}


@pytest.fixture(scope="module")
def permissive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return a server in an environment that allows core dumps and allows everyone to read new files."""
    directory = tmp_path_factory.mktemp("careless")
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    before = os.umask(0)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        with SimulatedProvider() as provider, Server(directory, provider.url) as server:
            server.record(send_request(server.port).header("service-request-id") or "", 60)
            yield World(server, provider)
    finally:
        os.umask(before)
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def modes(directory: Path) -> dict[str, str]:
    """Return the mode of a directory and of everything in it, by name."""
    found = {}
    for path in (directory, *paths_below(directory)):
        with suppress(FileNotFoundError):  # the file may have been removed meanwhile
            found[str(path.relative_to(directory.parent))] = oct(stat.S_IMODE(path.lstat().st_mode))
    return found


def test_files_and_directories_are_readable_only_by_the_owner_whatever_the_umask(permissive: World) -> None:
    found = modes(permissive.server.data)
    assert len(found) > 10, found
    open_to_others = {name: mode for name, mode in found.items() if mode not in ("0o600", "0o700")}
    assert open_to_others == {}


def test_a_data_directory_open_to_others_is_restricted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        server.record(send_request(server.port).header("service-request-id") or "", 60)
        assert modes(data)["data"] == "0o700"


def test_a_secret_truncated_by_a_full_disk_is_created_again(tmp_path: Path) -> None:
    truncated = tmp_path / f".new-secret-{os.getpid()}"
    truncated.write_bytes(b"half")
    secret = DataDirectory(tmp_path).secret()
    assert len(secret) == 32
    assert DataDirectory(tmp_path).secret() == secret
    assert not truncated.exists()


@pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}/proc")
@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason=f"{PREFIX}core dumps")
@pytest.mark.parametrize("role", ["relay", "recorder", "dashboard", "supervisor"])
def test_no_process_with_secrets_or_bodies_leaves_a_core_dump(permissive: World, role: str) -> None:
    server = permissive.server
    pid = server.process.pid if role == "supervisor" else server.pid_of(role)

    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    assert next(line.split()[4] for line in lines if line.startswith("Max core file size")) == "0", role


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason=f"{PREFIX}core dumps")
def test_no_command_leaves_a_core_dump() -> None:
    program = (
        "import resource, sys; hard = resource.getrlimit(resource.RLIMIT_CORE)[1]; "
        "resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)); from relaybook.cli.main import main; "
        "main(['--version']); sys.exit(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# -- links to other places ---------------------------------------------------------------------------------------------

#: Links that an attacker creates in a data directory before the first start: links to files, links to directories.
LINKED_FILES: Final = ["secret", "serve.lock", "children.lock", ".gitignore", "store/relaybook.sqlite"]
LINKED_DIRECTORIES: Final = ["journal", "store", "store/bodies", "quarantine"]


def create_link(data: Path, name: str, target: Path) -> None:
    data.mkdir(mode=0o700)
    (data / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / name).symlink_to(target)


def serve(directory: Path) -> Program:
    """Start a server on the data directory, send a request, and stop the server. The server may refuse to start."""
    command = [
        "-m",
        "relaybook.cli.main",
        "serve",
        "--upstream",
        "http://127.0.0.1:1/v1",
        "--data",
        str(directory / "data"),
    ]
    addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", "1MiB"]
    program = Program([*command, *addresses], directory, "planted", _WITHOUT_TOKEN)
    wait_until(lambda: "base URL" in program.stdout or program.process.poll() is not None, 60)
    found = re.search(r"base URL\s+http://127.0.0.1:(\d+)/", program.stdout)
    if found is not None and program.process.poll() is None:
        send_request(int(found[1]))
    program.stop()
    return program


@pytest.mark.parametrize("name", LINKED_FILES)
@pytest.mark.parametrize("exists", [True, False], ids=["a file", "nothing"])
def test_no_link_in_the_data_directory_leads_to_another_file(tmp_path: Path, name: str, exists: bool) -> None:
    target = tmp_path / "elsewhere"
    if exists:
        target.write_bytes(b"mine, and nobody else's" * 10)
    create_link(tmp_path / "data", name, target)
    program = serve(tmp_path)
    if exists:
        assert target.read_bytes() == b"mine, and nobody else's" * 10
    else:
        assert not target.exists()
    assert_rejected(program, name)


def assert_rejected(program: Program, name: str) -> None:
    """Assert that the server did not start and printed one line that says what to do."""
    assert "base URL" not in program.stdout
    assert program.process.returncode == 2
    assert program.stderr.count("\n") == 1, program.stderr
    assert name.partition("/")[0] in program.stderr


def test_a_data_directory_that_is_a_link_contains_no_links(tmp_path: Path) -> None:
    """systemd makes the data directory of a service with a dynamic user a link."""
    target = tmp_path / "elsewhere"
    target.mkdir()
    create_link(tmp_path / "private", "journal", target)
    (tmp_path / "data").symlink_to(tmp_path / "private")
    program = serve(tmp_path)
    assert list(target.iterdir()) == []
    assert_rejected(program, "journal")
    (tmp_path / "private" / "journal").unlink()
    assert "base URL" in serve(tmp_path).stdout


@pytest.mark.parametrize("name", LINKED_DIRECTORIES)
def test_no_link_in_the_data_directory_leads_to_another_directory(tmp_path: Path, name: str) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    create_link(tmp_path / "data", name, target)
    program = serve(tmp_path)
    assert list(target.iterdir()) == []
    assert_rejected(program, name)
