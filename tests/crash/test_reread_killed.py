"""Kill a process that rereads requests, at the start of system calls that change a file.

The next writer finishes the reread. The log and all its counters are then the same as after an uninterrupted reread.
"""

import shutil
import time
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.stores.test_rereading import blank_and_read, contents, is_readable
from tests.crash.strace import CHANGES, instants, trace_program
from tests.crash.tries import Tally, chosen
from tests.support.long import LONG, new_rng
from tests.support.needs import needs
from tests.support.no_passes import a_reread_pass

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.search_text import text_of
from relaybook.log.store import open_store
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex

pytestmark = needs("strace")

#: A program that waits for a line on standard input and then carries out the reread.
_REREADER: Final = """
import sys
from pathlib import Path
from tests.crash.test_reread_killed import reread_all
sys.stdin.readline()
reread_all(Path(sys.argv[1]))
"""


def fill(directory: Path) -> None:
    """Record requests without reading them, and request a reread of all of them."""
    store = open_store(directory)
    entries = list(filter(is_readable, blank_and_read(1)[0]))[::8]
    writer = store.open_writer()
    writer.commit(Batch(entries=entries))
    index = SqliteTextIndex(directory)
    index.add([(entry.record.seq or 0, text_of(entry)) for entry in entries], len(entries))
    index.close()
    store.open_rereads().request_reread(Filter(), len(entries), "me")
    writer.close()


def reread_all(directory: Path) -> None:
    """Carry out the reread until it is done."""
    store = open_store(directory)
    writer, reader = store.open_writer(), store.open_reader()
    work = a_reread_pass(writer)
    deadline = time.monotonic() + 30
    while reader.rereads(1)[0].state != "done":
        work.work(clock.monotonic_ns() + 20_000_000)
        assert time.monotonic() < deadline
    reader.close()
    writer.close()


def state(directory: Path) -> dict[str, Any]:
    """Return what readers see, and the problems that ``verify`` finds."""
    store = open_store(directory)
    reader = store.open_reader()
    (reread,) = reader.rereads(9)
    found = contents(reader) | {
        "reread": (reread.state, reread.requests, reread.read, reread.changed),
        "problems": store.verify(lambda done, total: None).problems,
    }
    reader.close()
    return found


def test_a_reread_that_is_killed_at_a_system_call_is_finished_by_the_next_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "filled")
    untouched = tmp_path / "untouched" / "store"
    shutil.copytree(tmp_path / "filled", untouched)
    tracer = trace_program(_REREADER, untouched, CHANGES)
    expected = state(untouched)
    assert expected["problems"] == []
    assert expected["reread"][3] > 30
    tally = Tally("reread killed at a call")
    for number, instant in enumerate(chosen(instants(tracer.traced_calls()), tally, new_rng())):
        directory = tmp_path / str(number) / "store"
        shutil.copytree(tmp_path / "filled", directory)
        tally.hit += trace_program(_REREADER, directory, CHANGES, instant).has_killed()
        reread_all(directory)
        found = state(directory)
        tally.add(instant, [], *(f"{name} differ" for name in expected if found[name] != expected[name]))
        shutil.rmtree(directory.parent)
    tally.show(capsys)
    assert tally.failures == []
    assert tally.hit >= (tally.tried / 2 if LONG else 1)
