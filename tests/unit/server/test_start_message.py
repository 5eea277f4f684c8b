"""Test the lines that the server prints when it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relaybook.server import start_message
from relaybook.settings.definitions import NamespaceSettings, Settings


@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_the_first_line_tells_what_plain_python_costs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start_message, "program", lambda: kind)
    start_message.print_start(Settings(data=tmp_path), "http://127.0.0.1:4100/v1", "http://127.0.0.1:4101")
    first = capsys.readouterr().out.splitlines()[0]
    assert ("make compiled" in first) == (kind == "plain")


def test_the_start_message_lists_only_namespaces_with_their_own_retention(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    namespaces = {"test-*": NamespaceSettings(log="no-bodies"), "eval-*": NamespaceSettings(keep_days=7)}
    settings = Settings(data=tmp_path, namespaces=namespaces, disk_budget="none")
    start_message.print_start(settings, "http://127.0.0.1:4100/v1", "http://127.0.0.1:4101")
    assert "kept forever; eval-* requests 7 days;" in capsys.readouterr().out


def test_a_closed_standard_output_does_not_stop_the_server() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from relaybook.server.start_message import print_line; print_line('relaybook'); print_line('again')"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
