"""``relaybook export``: other programs read the files, and a file that is not complete is not renamed."""

import csv
import errno
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support.api_log import entry_of, record_of
from tests.support.needs import needs
from tests.support.records import soon
from tests.support.sqlite_dashboard import Dashboard

from relaybook.cli import export as module
from relaybook.cli.main import main
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions

RECORDS = 1300


@pytest.fixture
def dashboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    monkeypatch.chdir(tmp_path)
    running = Dashboard(tmp_path / "data" / "store")
    entries = [
        entry_of(
            record_of(
                number,
                namespace="ios" if number % 2 else "web",
                failed=number % 100 == 0,
                properties={"channel": f'a "quoted"\nline {number}'},
            ),
            f'{{"n": {number}}}'.encode(),
            b"\xff" * (number % 50),
        )
        for number in range(RECORDS)
    ]
    running.writer.commit(Batch(entries=entries))
    yield running
    running.close()


@pytest.fixture(params=["directory", "server"])
def source(request: pytest.FixtureRequest, dashboard: Dashboard) -> list[str]:
    """Return the flags that choose the log."""
    if request.param == "server":
        return ["--dashboard-url", dashboard.url]
    return ["--data", str(dashboard.directory.parent)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cut_after(monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
    """Make the store fail after an export has read this many batches."""
    remaining = batches

    def limited(method: Callable[..., Any]) -> Callable[..., Any]:
        def read(*arguments: Any) -> Any:
            nonlocal remaining
            remaining -= 1
            if remaining < 0:
                raise StoreUnavailable("the disk is gone.")
            return method(*arguments)

        return read

    for name in ("since", "stored_since"):
        monkeypatch.setattr(SqliteReader, name, limited(getattr(SqliteReader, name)))


def test_a_file_has_all_requests_and_the_count(
    source: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *source, "--bodies", "-o", "log.jsonl"]) == 0
    found = lines(tmp_path / "log.jsonl")
    assert found.pop()["count"] == RECORDS
    assert [line["seq"] for line in found] == list(range(1, RECORDS + 1))
    assert found[7]["request"] == {"text": '{"n": 7}'}
    assert capsys.readouterr().err.startswith(f"{RECORDS:,} requests were exported to log.jsonl (")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log.jsonl"]


def test_the_ending_of_the_file_chooses_the_format(source: list[str], tmp_path: Path) -> None:
    assert main(["export", *source, "namespace=ios", "failed=false", "-o", "ios.csv"]) == 0
    found = rows(tmp_path / "ios.csv")
    assert {row["namespace"] for row in found} == {"ios"}
    assert found[0]["property.channel"] == 'a "quoted"\nline 1'
    assert len(found) == RECORDS // 2


def test_only_a_regular_file_is_replaced(source: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(device)
    link.symlink_to(file)
    assert main(["export", *source, "--output", str(device)]) == 1
    assert "pipe is not a regular file. To write to standard output, omit --output." in capsys.readouterr().err
    assert device.is_fifo()
    assert main(["export", *source, "--output", str(link)]) == 0
    assert (link.is_symlink(), file.is_file()) == (True, True)


def test_standard_output_is_the_default(source: list[str], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", *source, "failed=true"]) == 0
    output = capfdbinary.readouterr().out.splitlines()
    assert json.loads(output[-1]) == {"end": True, "count": RECORDS // 100}
    assert main(["export", *source, "failed=true", "--format", "csv"]) == 0
    assert b'"end"' not in capfdbinary.readouterr().out
    for options in (["-o", "-"], ["--output=-"], ["-o-"]):
        assert main(["export", *source, "failed=true", *options]) == 0
        assert capfdbinary.readouterr().out.splitlines() == output


def test_a_file_without_the_option_is_refused(source: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *source, "requests.csv"]) == 2
    output = capsys.readouterr()
    assert (output.out, "use --output requests.csv." in output.err) == ("", True)
    assert main(["export", *source, "-"]) == 2


@needs("jq")
def test_jq_reads_json_lines(source: list[str], tmp_path: Path) -> None:
    assert main(["export", *source, "--bodies", "-o", "log.jsonl"]) == 0
    jq = shutil.which("jq") or ""
    program = "select(.end | not) | select(.failed) | .request.text | fromjson | .n"
    done = subprocess.run([jq, program, tmp_path / "log.jsonl"], check=True, capture_output=True, text=True)
    assert list(map(int, done.stdout.split())) == list(range(0, RECORDS, 100))


def test_duckdb_reads_json_lines_and_parquet(source: list[str], tmp_path: Path) -> None:
    for name in ("log.jsonl", "log.parquet"):
        assert main(["export", *source, "--bodies", "-o", name]) == 0
        query = f"SELECT count(*), max(seq), count(DISTINCT started_at), sum(failed::int) FROM '{tmp_path / name}'"
        with duckdb.connect() as connection:
            found = connection.execute(f"{query} WHERE id IS NOT NULL").fetchone()
        assert found == (RECORDS, RECORDS, RECORDS, RECORDS // 100)


def test_a_parquet_file_that_was_cut_is_not_renamed(
    source: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("relaybook.log.export.parquet.ROW_GROUP_BYTES", 1000)
    cut_after(monkeypatch, 2)
    assert main(["export", *source, "-o", "log.parquet"]) == 1
    assert not (tmp_path / "log.parquet").exists()
    assert capsys.readouterr().err.rstrip().endswith("log.parquet.part is incomplete. Repeat the command.")


@pytest.mark.parametrize("options", [["--format", "jsonl"], ["--format", "jsonl", "--bodies"], ["--format", "csv"]])
def test_an_export_that_was_cut_leaves_its_beginning_and_can_be_repeated(
    source: list[str],
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["export", *source, *options, "-o"]
    assert main([*command, "whole"]) == 0
    with monkeypatch.context() as patched:
        cut_after(patched, 2)
        assert main([*command, "log"]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "log.part has " in error
    assert error.endswith("Repeat the command.")
    assert not (tmp_path / "log").exists()
    assert 0 < (tmp_path / "log.part").stat().st_size < (tmp_path / "whole").stat().st_size
    assert main([*command, "log"]) == 0
    assert (tmp_path / "log").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "log", "whole"]


def test_an_export_that_does_not_begin_leaves_an_earlier_partial_file(tmp_path: Path) -> None:
    partial = tmp_path / "log.jsonl.part"
    nowhere = ["--dashboard-url", "http://127.0.0.1:9", "-o", str(tmp_path / "log.jsonl")]
    assert main(["export", *nowhere]) == 1
    assert not partial.exists()
    partial.write_text("the beginning")
    assert main(["export", *nowhere]) == 1
    assert partial.read_text() == "the beginning"


def test_two_exports_to_one_file_do_not_mix(
    source: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = []
    copy = module._Writer.copy

    def copy_beside_another(self: module._Writer, chunks: Iterator[bytes], on_count: Callable[[int], object]) -> Any:
        monkeypatch.setattr(module._Writer, "copy", copy)
        codes.append(main(["export", *source, "-o", "log.jsonl"]))
        return copy(self, chunks, on_count)

    monkeypatch.setattr(module._Writer, "copy", copy_beside_another)
    assert main(["export", *source, "-o", "log.jsonl"]) == 0
    assert codes == [1]
    assert "Another command is writing log.jsonl.part." in capsys.readouterr().err
    assert len((tmp_path / "log.jsonl").read_bytes().splitlines()) == RECORDS + 1
    assert sorted(path.name for path in tmp_path.glob("log.jsonl*")) == ["log.jsonl"]


def test_a_full_disk_leaves_the_partial_file(
    source: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", *source, "--bodies", "-o", "log"]
    write = os.write
    with monkeypatch.context() as patched:
        room = 300_000

        def limited(fd: int, data: memoryview) -> int:
            nonlocal room
            if room <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            written = write(fd, data[:room])
            room -= written
            return written

        patched.setattr(module.os, "write", limited)
        assert main(command) == 1
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("relaybook: The disk is full. log.part has ")
    assert error.endswith("Free disk space, then repeat the command.")
    assert main(command) == 0
    assert lines(tmp_path / "log")[-1]["count"] == RECORDS
    assert len(lines(tmp_path / "log")) == RECORDS + 1


def test_an_export_for_fine_tuning_prints_how_many_requests_it_omits(
    source: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *source, "--format", "chat", "-o", "chat.jsonl"]) == 0
    assert (tmp_path / "chat.jsonl").read_bytes() == b""
    exported, omitted = capsys.readouterr().err.splitlines()
    assert exported == "0 requests were exported to chat.jsonl (0 bytes)."
    assert omitted == "1,300 requests were omitted: 13 failed, 1,287 without a response."


def test_the_error_for_a_missing_directory_is_one_line(source: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *source, "-o", "missing/log.jsonl"]) == 1
    assert capsys.readouterr().err == (
        "relaybook: missing/log.jsonl cannot be written: No such file or directory. Choose another --output FILE.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "xml"], "--format is 'xml': expected one of jsonl, csv"),
        (["--format", "csv", "--bodies"], "--bodies works only with jsonl and parquet."),
        (["--format", "chat", "--bodies"], "--bodies works only with jsonl and parquet."),
        (["-o", "/"], "/ is a directory."),
        (["nmespace=x"], "'nmespace' is not a known parameter. Did you mean namespace"),
        (["duration:fast"], "duration:fast"),
        (["--namespace", "x"], "Write the filter without dashes: namespace=VALUE"),
        (["-model:x"], "relaybook export -- -model:x"),
    ],
)
def test_bad_usage_exits_with_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--data", str(tmp_path), *arguments]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert message in error


def test_a_filter_that_matches_nothing_is_explained(source: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *source, "namespace=oss"]) == 0
    output = capsys.readouterr()
    assert output.err == "No request matches. No request has the namespace oss. Did you mean ios?\n"


def test_relative_times_are_fixed_when_the_export_begins() -> None:
    terms = [("from", "-1h"), ("q", 'namespace:a to:-30m "x y" from:-2h'), ("model", "from")]
    assert module.absolute_times(terms, 1_800_000_000_000_000) == [
        ("from", "2027-01-15T07:00:00.000000Z"),
        ("q", 'namespace:a to:"2027-01-15T07:30:00.000000Z" "x y" from:"2027-01-15T06:00:00.000000Z"'),
        ("model", "from"),
    ]
    assert module.absolute_times(module.absolute_times(terms, 1), 2) == module.absolute_times(terms, 1)


def test_counts_are_right_while_requests_are_recorded(source: list[str], dashboard: Dashboard, tmp_path: Path) -> None:
    has_started, stop = threading.Event(), threading.Event()

    def record() -> None:
        number = RECORDS
        while not stop.is_set():
            dashboard.record(*range(number, number + 20))
            number += 20
            has_started.set()

    recording = threading.Thread(target=record)
    recording.start()
    try:
        assert has_started.wait(30)
        assert main(["export", *source, "-o", "log.jsonl"]) == 0
    finally:
        stop.set()
        recording.join()
    *found, end = lines(tmp_path / "log.jsonl")
    assert [line["seq"] for line in found] == list(range(1, end["count"] + 1))
    assert len({line["id"] for line in found}) == end["count"] > RECORDS


@pytest.mark.parametrize("options", [[], ["--bodies"]])
def test_requests_that_stay_are_exported_while_others_are_deleted(
    source: list[str], options: list[str], dashboard: Dashboard, tmp_path: Path
) -> None:
    has_started, stop = threading.Event(), threading.Event()
    deletions = SqliteDeletions(dashboard.directory)
    deleted: set[str] = set()

    def delete() -> None:
        """Delete every tenth of the first 1,000 requests, latest requests first, and record new requests."""
        number = RECORDS
        for first in range(900, -1, -100):
            ids = [record_of(each).id for each in range(first, first + 100, 10)]
            deletions.request(Filter((Term("id", tuple(ids)),)), len(ids), "a test")
            dashboard.writer.delete(soon())
            deleted.update(ids)
            dashboard.record(*range(number, number + 20))
            number += 20
            has_started.set()
            if stop.is_set():
                return

    deleting = threading.Thread(target=delete)
    deleting.start()
    try:
        assert has_started.wait(30)
        assert main(["export", *source, *options, "-o", "log.jsonl"]) == 0
    finally:
        stop.set()
        deleting.join()
    *found, end = lines(tmp_path / "log.jsonl")
    seqs = [line["seq"] for line in found]
    assert seqs == sorted(set(seqs))
    assert len(found) == end["count"]
    staying = {record_of(number).id for number in range(RECORDS)} - deleted
    assert staying <= {line["id"] for line in found}
    assert record_of(900).id not in {line["id"] for line in found}
