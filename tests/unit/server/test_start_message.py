"""Test the lines that the server prints when it starts."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.records import an_entry

from relaybook.log.record import Note
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server import start_message
from relaybook.server.data_directory import DataDirectory, Serving
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
    assert "kept without an age limit; eval-* requests 7 days\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("budget", "until"), [("auto", "when the disk is nearly full"), (50 * 10**9, "when it takes 50 GB"), ("none", None)]
)
def test_the_start_message_says_when_the_oldest_requests_are_removed(
    budget: Any, until: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(data=tmp_path, disk_budget=budget)
    start_message.print_start(settings, "http://127.0.0.1:4100/v1", "http://127.0.0.1:4101")
    printed = capsys.readouterr().out
    assert f"the oldest requests are removed {until}\n" in printed if until else "are removed" not in printed


def test_after_an_upgrade_the_message_counts_the_requests_that_were_not_read_completely(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = SqliteWriter(DataDirectory(tmp_path).store)
    settings = Settings(data=tmp_path)
    start_message.print_improvable(settings, "0.0.1")
    assert capsys.readouterr().out == ""
    notes = [[Note("unknown_encoding", "br")], [Note("not_json", ""), Note("not_understood", "")], []]
    writer.commit(Batch(entries=[an_entry(notes=each) for each in notes]))
    writer.commit(Batch(entries=[an_entry(cost_reason=each) for each in ("no_price", "no_response", None)]))
    writer.close()
    start_message.print_improvable(settings, "0.0.1")
    unread, unpriced = capsys.readouterr().out.splitlines()
    assert unread.startswith("upgraded   from 0.0.1; 2 requests were not read completely by earlier versions.")
    assert "run relaybook reread note=not_understood note=not_json " in unread
    assert unpriced.startswith("upgraded   from 0.0.1; 1 request has a model or count that had no price.")
    assert "run relaybook reread cost_reason=unknown_model cost_reason=ambiguous_model " in unpriced


def test_the_version_of_the_earlier_server_is_known(tmp_path: Path) -> None:
    first, second = DataDirectory(tmp_path), DataDirectory(tmp_path)
    first.open()
    first.write_serving(Serving(pid=1, version="0.0.1"))
    first.close()
    second.open()
    assert (first.earlier_version, second.earlier_version) == (None, "0.0.1")
    second.close()


def test_a_closed_standard_output_does_not_stop_the_server() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from relaybook.server.start_message import print_line; print_line('relaybook'); print_line('again')"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
