"""``tail`` and ``show`` let no escape sequences of clients, models or upstreams reach a terminal.

The commands write to a pseudo-terminal, because they use colors only on a terminal.
"""

import base64
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import pytest
from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider
from tests.support.simulated_upstream import World, put_script

#: This text sets the window's title, clears the screen, moves the cursor, and reverses the direction of text.
EVIL: Final = "\x1b]0;pwned\x07\x1b[2J\x1b[1;1H\x9b31m\u202e\x08\r\nforged line"
_RAW: Final = ("\x1b]0;", "\x1b[2J", "\x1b[1;1H", "\x9b31m", "\x07", "\x08", "\u202e")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("terminals")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


@pytest.fixture(scope="module")
def logged(world: World) -> list[str]:
    """Send requests with escape sequences in the prompt, response, tags and an error. Returns the requests' ids."""
    message = {"role": "user", "content": EVIL, "name": EVIL}
    body = json.dumps({"model": EVIL, "messages": [message], "user": EVIL, "metadata": {"a": EVIL, EVIL: "b"}}).encode()
    choice = {"index": 0, "message": {"role": "assistant", "content": EVIL}, "finish_reason": EVIL}
    whole = json.dumps({"id": EVIL, "model": EVIL, "choices": [choice]}).encode()
    error = json.dumps({"error": {"message": EVIL, "type": EVIL, "code": EVIL}}).encode()
    ids = []
    for name, status, written in (
        ("whole", "200 OK", whole),
        ("error", "400 Bad", error),
        ("plain", "500 Bad", EVIL.encode()),
    ):
        script = {
            "status_line": f"HTTP/1.1 {status}",
            "headers": [
                ["content-type", "application/json"],
                ["x-request-id", "\u00e9\u009b31m".encode().decode("latin-1")],
            ],
            "body": base64.b64encode(written).decode(),
        }
        put_script(world.provider, name, script)
        tags = (f"Service-Namespace: {quote(EVIL)}".encode(), f"Service-Property-Note: {quote(EVIL)}".encode())
        response = send_request(
            world.server.port, *tags, f"Sim-Script: {name}".encode(), b"User-Agent: \xc2\x9b31m", body=body
        )
        ids.append(world.server.record(response.header("service-request-id") or "", 60)["id"])
    return ids


def run_on_terminal(world: World, *arguments: str) -> str:
    """Run a command on a terminal, and return its output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "relaybook.cli.main", *arguments, "--data", str(world.server.data)]
    environment = os.environ | {"RELAYBOOK_DASHBOARD_URL": world.server.dashboard, "TERM": "xterm-256color"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                data = os.read(ours, 1 << 16)
            except OSError:  # on Linux, this means that the other end is closed
                break
            if not data:
                break
            written += data
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode()


def assert_harmless(text: str) -> None:
    assert [sequence for sequence in _RAW if sequence in text] == []


def test_tail_writes_no_escape_sequence_of_a_client(world: World, logged: list[str]) -> None:
    text = run_on_terminal(world, "tail", "-n", str(len(logged)))
    assert_harmless(text)
    lines = [line for line in text.splitlines() if "pwned" in line or "\\x1b" in line]
    assert len(lines) == len(logged), "every request is one line, and shows what it held"
    assert not [line for line in text.splitlines() if line.startswith("forged")]


def test_show_writes_no_escape_sequence_of_a_client(world: World, logged: list[str]) -> None:
    for each in logged:
        text = run_on_terminal(world, "show", each)
        assert_harmless(text)
        assert "pwned" in text


def test_show_does_not_repeat_an_id_unescaped(world: World, logged: list[str]) -> None:
    command = [sys.executable, "-m", "relaybook.cli.main", "show", f"{EVIL}?", "--data", str(world.server.data)]
    environment = os.environ | {"RELAYBOOK_DASHBOARD_URL": world.server.dashboard}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert_harmless(found.stdout + found.stderr)
    assert found.returncode == 1
