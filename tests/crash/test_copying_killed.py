"""Kill an import and a backup at the start of system calls that change a file, and repeat them.

After a killed import, the repeated import adds what is missing and doubles nothing. If the recorder of a server is
killed during an import, the next recorder continues the import. After a killed backup, the copy is still a log without
damage, and the repeated backup completes it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.crash.strace import CHANGES, instants, trace_program
from tests.crash.tries import Tally, chosen
from tests.support.log_contents import contents
from tests.support.long import LONG, new_rng
from tests.support.needs import needs
from tests.support.records import an_entry, traffic

from relaybook.cli.main import main
from relaybook.log.store import open_store
from relaybook.log.store.entry import Body
from relaybook.log.store.port import Batch, Verification
from relaybook.recorder.passes.imports import ImportPass, ImportSender
from relaybook.recorder.passes.text import TextPass

pytestmark = needs("strace")

#: An import commits 500 requests at a time.
_REQUESTS: Final = 600
_IMPORT: Final = """
import sys
from relaybook.cli.main import main
sys.stdin.readline()
main(["import", sys.argv[1] + "/../log.jsonl", "--data", sys.argv[1]])
"""
#: Adds the batches that a running import has sent, as a recorder does.
_RECORDER: Final = """
import sys
from pathlib import Path
from tests.crash.test_copying_killed import add_batches
sys.stdin.readline()
add_batches(Path(sys.argv[1]))
"""
_BACKUP: Final = """
import sys
from relaybook.cli.main import main
sys.stdin.readline()
main(["backup", sys.argv[1], "--data", sys.argv[1] + "/../data"])
"""


def add(data: Path, requests: int, seed: int) -> None:
    """Record requests, and one whose body is too large for a record."""
    writer, make = open_store(data / "store").open_writer(), traffic(seed)
    large = Body(refs=[writer.write_body(b"a large body %d " % seed * 20_000)], rest=[b"its end"])
    writer.commit(Batch(entries=[an_entry(large, namespace="large"), *(make() for _ in range(requests))]))
    writer.close()


def verified(data: Path) -> Verification:
    return open_store(data / "store").verify(lambda done, total: None)


def test_an_import_that_is_killed_at_a_system_call_can_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(tmp_path / "data", _REQUESTS, 1)
    exported = tmp_path / "log.jsonl"
    assert main(["export", "--data", str(tmp_path / "data"), "--bodies", "-o", str(exported)]) == 0
    calls = instants(trace_program(_IMPORT, tmp_path / "whole", CHANGES).traced_calls())
    expected = contents(open_store(tmp_path / "whole" / "store").open_reader())
    assert len(expected[0]) == _REQUESTS + 1
    tally = Tally("import killed at a call")
    for number, instant in enumerate(chosen(calls, tally, new_rng())):
        data = tmp_path / f"killed-{number}"
        tally.hit += trace_program(_IMPORT, data, CHANGES, instant).has_killed()
        failures = [] if main(["import", str(exported), "--data", str(data)]) == 0 else ["the repeated import failed"]
        failures += verified(data).problems
        if contents(open_store(data / "store").open_reader()) != expected:
            failures.append("the log differs")
        tally.add(instant, [], *failures)
        shutil.rmtree(data)
    tally.show(capsys)
    assert tally.failures == []
    assert tally.hit >= (tally.tried / 2 if LONG else 1)


def add_batches(data: Path) -> None:
    store = open_store(data / "store")
    writer, reader = store.open_writer(), store.open_reader()
    queue = ImportPass(data / "imports", writer, reader, TextPass(reader, None), 0)
    while queue.work(0):
        pass
    reader.close()
    writer.close()


def test_if_the_recorder_is_killed_at_a_system_call_the_next_one_continues_the_import(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make = traffic(1)
    batches = [[make() for _ in range(20)] for _ in range(4)]

    @contextmanager
    def importing(name: str) -> Iterator[tuple[Path, ImportSender]]:
        sender = ImportSender.open(tmp_path / name / "imports")
        assert sender is not None
        for batch in batches:
            sender.send(batch)
        yield tmp_path / name, sender
        sender.close()

    with importing("whole") as (data, _):
        calls = instants(trace_program(_RECORDER, data, CHANGES).traced_calls())
        expected = contents(open_store(data / "store").open_reader())
    assert len(expected[0]) == 80
    tally = Tally("recorder killed at a call during an import")
    for number, instant in enumerate(chosen(calls, tally, new_rng())):
        with importing(f"killed-{number}") as (data, sender):
            tally.hit += trace_program(_RECORDER, data, CHANGES, instant).has_killed()
            add_batches(data)
            failures = verified(data).problems
            if contents(open_store(data / "store").open_reader()) != expected:
                failures.append("the log differs")
            if None in map(sender.outcome, range(1, 5)):
                failures.append("a batch has no outcome")
        tally.add(instant, [], *failures)
        shutil.rmtree(data)
    tally.show(capsys)
    assert tally.failures == []
    assert tally.hit >= (tally.tried / 2 if LONG else 1)


def test_a_backup_that_is_killed_at_a_system_call_leaves_a_log_and_can_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, first = tmp_path / "data", tmp_path / "first"
    add(data, 100, 1)
    assert main(["backup", str(first), "--data", str(data)]) == 0
    add(data, 100, 2)
    expected = contents(open_store(data / "store").open_reader())
    shutil.copytree(first, tmp_path / "whole")
    calls = instants(trace_program(_BACKUP, tmp_path / "whole", CHANGES).traced_calls())
    assert contents(open_store(tmp_path / "whole" / "store").open_reader()) == expected
    tally = Tally("backup killed at a call")
    for number, instant in enumerate(chosen(calls, tally, new_rng())):
        copy = tmp_path / f"killed-{number}"
        shutil.copytree(first, copy)
        tally.hit += trace_program(_BACKUP, copy, CHANGES, instant).has_killed()
        left = verified(copy)
        failures = [*left.problems]
        if left.records not in (101, 202):
            failures.append(f"the copy has {left.records} requests")
        if main(["backup", str(copy), "--data", str(data)]) != 0:
            failures.append("the repeated backup failed")
        if contents(open_store(copy / "store").open_reader()) != expected:
            failures.append("the copy differs from the log")
        tally.add(instant, [], *failures, *verified(copy).problems)
        shutil.rmtree(copy)
    tally.show(capsys)
    assert tally.failures == []
    assert tally.hit >= (tally.tried / 2 if LONG else 1)
