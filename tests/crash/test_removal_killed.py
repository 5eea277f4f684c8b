"""Kill a process that removes requests from a store, at the start of system calls that change a file.

The next writer finishes the removal. The log, its counters and its files are then the same as after an uninterrupted
run.
"""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.stores.reading import derived
from tests.crash.strace import CHANGES, instants, trace_program
from tests.crash.tries import Tally, chosen
from tests.support.files import contents_below, raw_and_decompressed
from tests.support.long import LONG, new_rng
from tests.support.needs import needs
from tests.support.records import A_TIMESTAMP, an_entry

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store import open_store
from relaybook.log.store.entry import Body
from relaybook.log.store.port import Batch, Writer
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex

pytestmark = needs("strace")

_NOON: Final = A_TIMESTAMP - A_TIMESTAMP % DAY_US + DAY_US // 2
_NOW: Final = _NOON + 3 * DAY_US
#: A text in every request of the deleted user, and in no other request. It must disappear from every file.
_SECRET: Final = "the words of someone who wants to be forgotten"
_OTHER_TEXT: Final = "the words of someone else"
_DELETED_USER: Final = "user-3"
#: Requests that start with this text have an earlier request as their base, and that request may be deleted.
_INSTRUCTIONS: Final = b" ".join(b"rule %d" % number for number in range(200))
_CUTOFFS: Final = Cutoffs(
    general=Cutoff(content=_NOON + 2 * DAY_US, requests=_NOON + DAY_US), by_pattern={"audit": Cutoff()}
)
#: A program that waits for a line on standard input and then removes requests until nothing is left to do.
_REMOVER: Final = """
import sys
from pathlib import Path
from tests.crash.test_removal_killed import remove_all
sys.stdin.readline()
remove_all(Path(sys.argv[1]))
"""


def fill(directory: Path, set_clock: Callable[[int], None]) -> None:
    """Record three days of requests, and request the deletion of one user's requests."""
    store, chosen_ = open_store(directory), random.Random(5)
    set_clock(_NOON)
    writer = store.open_writer()
    index = SqliteTextIndex(directory)
    for day in range(3):
        set_clock(_NOON + day * DAY_US)
        ref = writer.write_body(b"a large body " * 20_000)
        texts = [f"{_SECRET if number % 7 == 3 else _OTHER_TEXT} {number}" for number in range(150)]
        entries = [
            an_entry(
                Body(
                    refs=[ref] if number == 3 else [],
                    rest=[_INSTRUCTIONS if number % 2 else b"", text.encode()],
                ),
                started_at=clock.wall_us() + number,
                ended_at=clock.wall_us() + number + 1,
                namespace=chosen_.choice(["production", "audit", f"user-{number:08}"]),
                user=f"user-{number % 7}",
                completion_id=f"chatcmpl-{day}-{number}",
                properties={"channel": chosen_.choice(["web", "ios"])},
                input_preview=text,
            )
            for number, text in enumerate(texts)
        ]
        writer.commit(Batch(entries=entries))
        indexed = [(entry.record.seq or 0, SearchText(text)) for entry, text in zip(entries, texts, strict=True)]
        index.add(indexed, entries[-1].record.seq or 0)
    index.close()
    store.open_deletions().request(Filter((Term("user", (_DELETED_USER,)),)), 60, "127.0.0.1")
    writer.close()


def remove_all(directory: Path) -> None:
    """Carry out retention and deletion until nothing is left to do."""
    clock.wall_us = lambda: _NOW
    writer = open_store(directory).open_writer()
    deadline = time.monotonic() + 30
    while _step(writer, directory):
        assert time.monotonic() < deadline
    writer.close()


def _step(writer: Writer, directory: Path) -> bool:
    soon = clock.monotonic_ns() + 20_000_000
    writer.delete(soon)
    done = writer.retain(_CUTOFFS, soon)
    worked = writer.run_maintenance(soon)
    reader = open_store(directory).open_reader()
    deletions = reader.deletions(9)
    reader.close()
    return worked or not done.is_complete or any(each.state != "done" for each in deletions)


def state(directory: Path) -> dict[str, Any]:
    """Return what readers see, the names of the packs, and the problems that ``verify`` finds."""
    store = open_store(directory)
    reader = store.open_reader()
    records = reader.page(Filter(), 1000, None, 2**62).records
    found = {
        "records": sorted((each.id, each.body_state, each.user) for each in records),
        "bodies": sorted((each.id, b"".join(reader.body(each.id, "request") or ())) for each in records),
        "derived": derived(reader),
        "packs": sorted(path.name for path in (directory / "bodies").iterdir()),
        "problems": store.verify(lambda done, total: None).problems,
    }
    reader.close()
    return found


def test_removal_that_is_killed_at_a_system_call_is_finished_by_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clock, "wall_us", clock.wall_us)  # so that it is restored at the end
    fill(tmp_path / "filled", lambda now_us: setattr(clock, "wall_us", lambda: now_us))
    assert files_with_secret(tmp_path / "filled")
    untouched = tmp_path / "untouched" / "store"
    shutil.copytree(tmp_path / "filled", untouched)
    tracer = trace_program(_REMOVER, untouched, CHANGES)
    expected = state(untouched)
    assert {body_state for _, body_state, _ in expected["records"]} == {"stored", "expired"}
    assert not any(user == _DELETED_USER for _, _, user in expected["records"])
    assert len(expected["packs"]) == 4  # three keep requests of the audit namespace; bases moved to today's pack
    assert expected["problems"] == []
    assert files_with_secret(untouched) == []
    tally = Tally("removal killed at a call")
    for number, instant in enumerate(chosen(instants(tracer.traced_calls()), tally, new_rng())):
        directory = tmp_path / str(number) / "store"
        shutil.copytree(tmp_path / "filled", directory)
        tally.hit += trace_program(_REMOVER, directory, CHANGES, instant).has_killed()
        remove_all(directory)
        found = state(directory)
        tally.add(instant, [], *(f"{name} differ" for name in expected if found[name] != expected[name]))
        if leaked := files_with_secret(directory):
            tally.failures.append(f"{instant}: bytes of deleted requests in {leaked}")
        shutil.rmtree(directory.parent)
    tally.show(capsys)
    assert tally.failures == []
    assert tally.hit >= (tally.tried / 2 if LONG else 1)


def files_with_secret(directory: Path) -> list[str]:
    """Return the files that contain ``_SECRET``, also in compressed form."""
    return [
        name
        for name, content in contents_below(directory)
        if any(_SECRET.encode() in text for text in raw_and_decompressed(content))
    ]
