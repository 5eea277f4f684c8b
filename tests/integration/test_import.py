"""``relaybook import`` restores an exported log. Repeated imports add no requests."""

import base64
import gzip
import io
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import zstandard
from tests.support import log_contents
from tests.support.api_log import record_of
from tests.support.bodies import reading_of, request_of
from tests.support.records import REQUEST, RESPONSE, an_entry, traffic

from relaybook import __version__
from relaybook.cli.main import main
from relaybook.log.export.export import MAX_LABELS, EndLine, labels_of
from relaybook.log.export.restore import read_line
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.namespaces import LabelChange
from relaybook.log.record import Detail, Feedback, Note, encode_chain
from relaybook.log.store import open_store
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.passes.imports import ImportSender
from relaybook.server.data_directory import DataDirectory, Serving

#: This number exceeds the 500 requests that an import writes in one transaction.
RECORDS = 600
FEEDBACK = [Feedback(source="judge", score=0.1, at=1_795_269_751_000_007), Feedback(source="users", label="ü", at=7)]


def fill(data: Path, entries: list[Entry]) -> None:
    writer = SqliteWriter(data / "store")
    writer.commit(Batch(entries=entries))
    writer.close()


def contents(data: Path) -> list[Any]:
    return log_contents.contents(SqliteReader(data / "store"))


@pytest.fixture(scope="module")
def exported_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that contains a log with all kinds of requests and the file exported from that log."""
    directory = tmp_path_factory.mktemp("exported")
    make = traffic(3)
    entries = [make() for _ in range(RECORDS)]
    detail = Detail(reason="OK", request_head=b"x-a:  \xff\r\nx-b: c", request_sha256="ab")
    entries += [
        an_entry(bytes(range(256)) * 6000, None, detail, warnings=[Note("w", "m")], properties={"a": "ü"}),
        an_entry(None, None, body_state="no_bodies", outcome="client_closed"),
        an_entry(gzip.compress(REQUEST), RESPONSE, Detail(request_head=b"content-encoding: gzip")),
    ]
    entries[-2].detail = None
    entries[7].record.feedback = FEEDBACK
    fill(directory / "data", entries)
    assert main(["export", "--data", str(directory / "data"), "--bodies", "-o", str(directory / "log.jsonl")]) == 0
    return directory


@pytest.fixture
def exported(exported_log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the exported file in a new working directory, which also contains a copy of the log."""
    shutil.copytree(exported_log, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "log.jsonl"


def test_an_import_into_an_empty_log_restores_everything(exported: Path, tmp_path: Path) -> None:
    assert main(["import", str(exported), "--data", "new"]) == 0
    before, after = contents(tmp_path / "data"), contents(tmp_path / "new")
    for restored, original in zip(after[:4], before[:4], strict=True):
        assert restored == original
    assert [link.chain is not None for link in after[4]] == [True] + [False] * 2 + [True] * RECORDS
    chain = build_chain(request_of(REQUEST), reading_of(RESPONSE).response)
    assert chain is not None
    assert after[4][-1].chain == encode_chain(chain)


def label(namespace: str, color: int) -> LabelChange:
    return LabelChange(namespace=namespace, pinned=True, color=color, group="Team", position=3)


def pin(directory: Path, namespace: str, color: int) -> None:
    open_store(directory / "store").open_labels().change(label(namespace, color))


def pinned(directory: Path) -> dict[str, LabelChange]:
    reader = open_store(directory / "store").open_reader()
    found = {label.namespace: label for label in labels_of(reader)}
    reader.close()
    return found


def test_labels_are_restored_except_in_namespaces_that_were_pinned_before(exported: Path, tmp_path: Path) -> None:
    pin(tmp_path / "data", "support", 5)
    assert main(["export", "--data", "data", "-o", "labels.jsonl"]) == 0
    assert main(["import", "labels.jsonl", "--data", "new"]) == 0
    assert pinned(tmp_path / "new") == pinned(tmp_path / "data")
    assert pinned(tmp_path / "new")["support"] == label("support", 5)
    pin(tmp_path / "new", "support", 6)
    for number in range(MAX_LABELS):
        pin(tmp_path / "new", f"other-{number}", 1)
    assert main(["import", "labels.jsonl", "--data", "new"]) == 0
    assert pinned(tmp_path / "new")["support"] == label("support", 6)


def test_an_export_with_a_filter_has_no_labels(exported: Path, tmp_path: Path) -> None:
    assert main(["export", "status=200", "--data", "data", "-o", "filtered.jsonl"]) == 0
    end = json.loads(Path("filtered.jsonl").read_text().splitlines()[-1])
    assert end == {"end": True, "count": end["count"]}


def test_many_labels_fit_into_the_end_line(exported: Path, tmp_path: Path) -> None:
    for number in range(MAX_LABELS + 1):
        pin(tmp_path / "data", f"{number}".ljust(256, "\x01"), 1)
    assert main(["export", "--data", "data", "-o", "many.jsonl"]) == 0
    end = json.loads(Path("many.jsonl").read_text().splitlines()[-1])
    assert len(end["labels"]) == MAX_LABELS


def test_a_repeated_import_adds_nothing(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "log.jsonl", "--data", "new"]) == 0
    before = contents(tmp_path / "new")
    assert main(["import", "log.jsonl", "log.jsonl", "--data", "new"]) == 0
    assert contents(tmp_path / "new") == before
    count = RECORDS + 3
    assert capsys.readouterr().out.splitlines() == [
        f"{count:,} requests from log.jsonl were added to the log of {tmp_path}/new.",
        *[f"0 requests from log.jsonl were added to the log of {tmp_path}/new; {count:,} were already in the log."] * 2,
    ]


def test_an_import_that_was_interrupted_is_repeated(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit, calls = SqliteWriter.commit, 0

    def failing(writer: SqliteWriter, batch: Batch) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreUnavailable("The disk is full.")
        commit(writer, batch)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteWriter, "commit", failing)
        assert main(["import", "log.jsonl", "--data", "new"]) == 1
    assert "The disk is full. Repeat the import" in capsys.readouterr().err
    assert len(contents(tmp_path / "new")[0]) == 500
    assert main(["import", "log.jsonl", "--data", "new"]) == 0
    added = f"{RECORDS - 497} requests from log.jsonl were added to the log of {tmp_path}/new"
    assert capsys.readouterr().out == f"{added}; 500 were already in the log.\n"
    assert contents(tmp_path / "new")[:4] == contents(tmp_path / "data")[:4]


def test_two_logs_are_joined(exported: Path, tmp_path: Path) -> None:
    fill(tmp_path / "other", [an_entry()])
    assert main(["import", "log.jsonl", "--data", "other"]) == 0
    assert len(contents(tmp_path / "other")[0]) == RECORDS + 4


def test_compressed_files_and_standard_input_are_read(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = exported.read_bytes()
    Path("a.jsonl.gz").write_bytes(gzip.compress(data))
    Path("b.jsonl.zst").write_bytes(zstandard.compress(data))
    assert main(["import", "a.jsonl.gz", "--data", "one"]) == 0
    assert main(["import", "b.jsonl.zst", "--data", "two"]) == 0
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert main(["import", "-", "--data", "three"]) == 0
    assert contents(Path("one")) == contents(Path("two")) == contents(Path("three"))


def test_invalid_lines_are_written_to_a_file_with_their_reasons(
    exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *lines, end = exported.read_text().splitlines()
    first = json.loads(lines[0])
    bad = {
        "not valid JSON": '{"export":1,',
        "not a JSON object": "[]",
        "not from an export in the format jsonl": '{"messages":[]}',
        "the format version (export) is 2": json.dumps(first | {"export": 2}),
        "id is not a Relaybook id": json.dumps(first | {"id": "x"}),
        "still running": json.dumps(first | {"outcome": "open"}),
        "started_at is not a timestamp": json.dumps(first | {"started_at": "yesterday"}),
        "started_at is not between the years 1970 and 9000": json.dumps(first | {"started_at": "9999-12-31T23:59:59Z"}),
        "ended_at is not between the years 1970 and 9000": json.dumps(first | {"ended_at": "1969-12-31T23:59:59Z"}),
        "Expected `int | null`": json.dumps(first | {"status": "200"}),
        "NUL character": json.dumps(first | {"model": "a\0"}),
        "request has neither": json.dumps(first | {"request": {"base64": "%"}}),
        "detail is not an object": json.dumps(first | {"detail": [1]}),
        "feedback is not a list of objects": json.dumps(first | {"feedback": ["good"]}),
        "feedback.at is not a timestamp": json.dumps(first | {"feedback": [{"source": "users", "score": 1}]}),
        "cannot be stored": json.dumps(first | {"id": record_of(9).id, "input_tokens": 2**70}),
    }
    Path("bad.jsonl").write_text("\n".join([*lines[:3], *bad.values(), *lines[3:], end]) + "\n")
    assert main(["import", "bad.jsonl", "--data", "new"]) == 1
    output = capsys.readouterr()
    assert output.out == f"{RECORDS + 3:,} requests from bad.jsonl were added to the log of {Path.cwd()}/new.\n"
    assert f"{len(bad)} lines were rejected. See bad.jsonl.rejected." in output.err
    rejected = [json.loads(line) for line in Path("bad.jsonl.rejected").read_text().splitlines()]
    assert Path("bad.jsonl.rejected").stat().st_mode & 0o777 == 0o600
    assert sorted(each["line"] for each in rejected) == list(range(4, 4 + len(bad)))
    by_text = {each["text"]: each["reason"] for each in rejected}
    for reason, text in bad.items():
        assert reason in by_text[text]


def test_if_rejected_lines_cannot_be_written_the_import_ends(
    exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.jsonl").write_text("[]\n")
    Path("bad.jsonl.rejected").mkdir()
    assert main(["import", "bad.jsonl", "--data", "new"]) == 1
    assert capsys.readouterr().err == (
        "relaybook: Line 1 was rejected (not a JSON object), but the file for rejected lines cannot be written: "
        "bad.jsonl.rejected: Is a directory. Make this file writable, then repeat the import.\n"
    )


def test_a_file_of_another_format_is_reported(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("chat.jsonl").write_text('{"messages":[]}\n')
    assert main(["import", "chat.jsonl", "--data", "new"]) == 1
    output = capsys.readouterr().err
    assert "chat.jsonl is not an export in the format jsonl, which is the only format that can be imported." in output
    assert "incomplete" not in output


def test_an_incomplete_file_is_reported(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = exported.read_text().splitlines(keepends=True)
    Path("cut.jsonl").write_text("".join(lines[:5]))
    assert main(["import", "cut.jsonl", "--data", "new"]) == 1
    message = "cut.jsonl is probably incomplete, because the last line, which has the number of requests, is missing."
    assert message in capsys.readouterr().err
    Path("short.jsonl").write_text("".join([*lines[:5], lines[-1]]))
    assert main(["import", "short.jsonl", "--data", "new"]) == 1
    message = f"short.jsonl is incomplete. The file should have {RECORDS + 3:,} requests, but has 5."
    assert message in capsys.readouterr().err
    Path("empty.jsonl").touch()
    assert main(["import", "empty.jsonl", "--data", "new"]) == 1
    assert "empty.jsonl is probably incomplete" in capsys.readouterr().err


def test_without_bodies_the_requests_are_expired(exported: Path) -> None:
    assert main(["export", "--data", "data", "-o", "records.jsonl"]) == 0
    assert main(["import", "records.jsonl", "--data", "new"]) == 0
    states = {record.body_state for record, *_ in contents(Path("new"))[0]}
    assert states == {"expired", "no_bodies"}


def test_if_the_log_is_in_use_nothing_is_imported(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refusal() -> str:
        assert main(["import", "log.jsonl", "--data", "data"]) == 1
        return capsys.readouterr().err

    directory = DataDirectory(Path("data"))
    directory.open()
    try:
        assert "Another command is using" in refusal()
        directory.write_serving(Serving(pid=1, version="0"))
        assert "has version 0, but this command has version" in refusal()
        directory.write_serving(Serving(pid=1, version=__version__, has_recorder=False))
        assert "is in use by relaybook dashboard, which records nothing" in refusal()
        directory.write_serving(Serving(pid=1, version=__version__))
        other = ImportSender.open(directory.imports)
        assert other is not None
        assert "Another import into" in refusal()
        other.close()
    finally:
        directory.close()


def test_the_error_for_bad_usage_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--data", str(tmp_path)]) == 2
    assert main(["import", str(tmp_path / "missing"), "--data", str(tmp_path)]) == 1
    for line in capsys.readouterr().err.splitlines():
        assert line.startswith("relaybook: ")


def test_a_body_with_text_and_base64_is_restored_as_transferred() -> None:
    line = {"export": 1, **msgspec.to_builtins(record_of(1)), "started_at": "2026-01-01T00:00:00.000001Z"}
    line |= {
        "ended_at": "2026-01-01T01:00:00+01:00",
        "request": {"text": "a", "base64": base64.b64encode(b"b").decode()},
    }
    entry = read_line(json.dumps(line).encode())
    assert isinstance(entry, Entry)
    assert entry.request is not None
    assert entry.request.rest == [b"b"]
    assert (entry.record.started_at, entry.record.ended_at) == (1_767_225_600_000_001, 1_767_225_600_000_000)


def test_unknown_fields_of_an_end_line_are_ignored() -> None:
    line = {"end": True, "count": 2, "new": 1, "labels": [{"namespace": "support", "pinned": True, "new": 1}]}
    assert read_line(json.dumps(line).encode()) == EndLine(
        True, 2, labels=[LabelChange(namespace="support", pinned=True)]
    )
