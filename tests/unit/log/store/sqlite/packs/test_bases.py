"""A request takes space only for its new content, and stays complete when an earlier request is removed."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
import zstandard
from tests.support.files import contents_below, raw_and_decompressed
from tests.support.long import LONG
from tests.support.records import A_TIMESTAMP, an_entry, new_record_id

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store import open_store
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import StoreFull
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite import backup
from relaybook.log.store.sqlite.packs.bases import (
    MAX_BASES,
    MAX_CHAIN_BYTES,
    MAX_MEMORY,
    MAX_USES,
    Base,
    Bases,
    keys_of,
)
from relaybook.log.store.sqlite.packs.bodies import decode_location
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.writer import SqliteWriter

_WORDS: Final = [f"{first}{last}" for first in ("ka", "lo", "mi", "ne", "ru", "sta", "tro") for last in range(300)]
_SECRET: Final = "the words of someone who wants to be forgotten"


def text(random_: random.Random, words: int) -> str:
    return " ".join(random_.choices(_WORDS, k=words))


def a_conversation(random_: random.Random, turns: int, *, instructions: int, turn: int) -> Iterator[Entry]:
    """Yield the requests of a conversation. ``instructions`` and ``turn`` are numbers of words."""
    messages = [{"role": "system", "content": text(random_, instructions)}]
    for _ in range(turns):
        messages.append({"role": "user", "content": text(random_, turn // 3)})
        request = json.dumps({"model": "gpt-5", "messages": messages}).encode()
        messages.append({"role": "assistant", "content": text(random_, turn - turn // 3)})
        answer = {"id": f"chatcmpl-{new_record_id()}", "choices": [{"index": 0, "message": messages[-1]}]}
        yield an_entry(request, json.dumps(answer).encode(), started_at=clock.wall_us(), ended_at=clock.wall_us())


def bodies_of(entry: Entry) -> tuple[bytes, bytes]:
    assert entry.request is not None
    assert entry.response is not None
    return b"".join(entry.request.rest), b"".join(entry.response.rest)


def read(reader: SqliteReader, entry: Entry) -> tuple[bytes, bytes]:
    request, response = reader.body(entry.record.id, "request"), reader.body(entry.record.id, "response")
    assert request is not None
    assert response is not None
    return b"".join(request), b"".join(response)


def pack_bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in (directory / "bodies").glob("*.pack"))


def maintain(writer: SqliteWriter) -> None:
    while writer.run_maintenance(clock.monotonic_ns() + 50_000_000):
        pass


def delete(writer: SqliteWriter, directory: Path, namespace: str, until: str = "done") -> None:
    """Delete the requests of a namespace and erase their frames, until the deletion has the state ``until``.

    In the state ``done``, no file has a byte of the requests.
    """
    SqliteDeletions(directory).request(Filter((Term("namespace", (namespace,)),)), 1, "a test")
    reader = SqliteReader(directory)
    while reader.deletions(1)[0].state not in (until, "done"):
        writer._deletions._looked_ns = 0
        writer.delete(clock.monotonic_ns() + 20_000_000)
        maintain(writer)
    reader.close()


def packs(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "bodies").iterdir())


@pytest.fixture
def random_() -> random.Random:
    return random.Random(7)


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> int:
    now = A_TIMESTAMP - A_TIMESTAMP % DAY_US + DAY_US // 2
    monkeypatch.setattr(clock, "wall_us", lambda: now)
    return now


def test_a_conversation_of_n_turns_takes_the_space_of_its_last_request(tmp_path: Path, random_: random.Random) -> None:
    entries = list(a_conversation(random_, 100, instructions=20, turn=220))
    writer = SqliteWriter(tmp_path)
    for entry in entries:
        writer.commit(Batch(entries=[entry]))
    writer.close()
    alone = len(zstandard.ZstdCompressor(level=1).compress(b"".join(bodies_of(entries[-1]))))
    assert pack_bytes(tmp_path) <= 1.3 * alone
    reader = SqliteReader(tmp_path)
    for entry in entries:
        assert read(reader, entry) == bodies_of(entry)
    reader.close()


def test_the_instructions_of_an_agent_are_stored_once(tmp_path: Path, random_: random.Random) -> None:
    entries = list(a_conversation(random_, 50, instructions=10_000, turn=100))
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=entries))
    writer.close()
    raw = sum(len(body) for entry in entries for body in bodies_of(entry))
    assert pack_bytes(tmp_path) <= raw / 40


def test_bases_are_found_in_interleaved_conversations(tmp_path: Path, random_: random.Random) -> None:
    conversations = [a_conversation(random_, 30, instructions=300, turn=150) for _ in range(8)]
    entries = [entry for turn in zip(*conversations, strict=True) for entry in turn]
    writer = SqliteWriter(tmp_path)
    for start in range(0, len(entries), 20):
        writer.commit(Batch(entries=entries[start : start + 20]))
    writer.close()
    alone = sum(len(zstandard.ZstdCompressor(level=1).compress(bodies_of(entry)[0])) for entry in entries[-8:])
    assert pack_bytes(tmp_path) <= 2 * alone
    reader = SqliteReader(tmp_path)
    for entry in random_.sample(entries, 50):
        assert read(reader, entry) == bodies_of(entry)
    reader.close()
    assert open_store(tmp_path).verify(lambda done, total: None).damaged == 0


def test_a_chain_of_bases_has_limits() -> None:
    bases, keys = Bases(), keys_of(bytes(2000), "")
    for offset in range(MAX_BASES + 2):
        base = bases.find(keys)
        bases.add(Base(offset, (1, offset, 1), bytes(10), base, keys))
        assert (base is None) == (offset in (0, MAX_BASES + 1))
    bases.clear()
    big = bytes(MAX_CHAIN_BYTES // 4)
    for offset in range(5):
        base = bases.find(keys)
        bases.add(Base(offset, (1, offset, 1), big, base, keys))
        assert (base is None) == (offset in (0, 4))


def test_a_common_base_has_a_limited_number_of_uses() -> None:
    bases, keys = Bases(), keys_of(b"short", "/v1/chat/completions gpt-5")
    first = Base(0, (1, 0, 1), b"short content", None, keys)
    bases.add(first)
    for offset in range(1, MAX_USES + 1):
        assert bases.find(keys) is first
        first.compress(b"another")
        bases.add(Base(offset, (1, offset, 1), b"another", first, keys))
    assert bases.find(keys) is None
    second = Base(MAX_USES + 1, (1, MAX_USES + 1, 1), b"the next base", None, keys)
    bases.add(second)
    assert bases.find(keys) is second


def test_the_memory_of_bases_is_limited_however_many_models_are_named() -> None:
    """A common base takes 80 KiB, because it keeps a compressor."""
    assert 100 < kept_bases([(b"short", f"model-{number}") for number in range(2000)]) < 500
    assert 1000 < kept_bases([(b"%06d" % number * 200, "gpt-5") for number in range(30_000)]) < 15_000


def kept_bases(requests: list[tuple[bytes, str]]) -> int:
    """Add these requests, each with a body and a model, as bases. Returns how many requests are bases afterwards."""
    bases = Bases()
    for offset, (body, model) in enumerate(requests):
        bases.add(Base(offset, (1, offset, 1), body, None, keys_of(body, model)))
    kept = [base for body, model in requests if (base := bases.find(keys_of(body, model)))]
    assert sum(base.memory for base in kept) <= MAX_MEMORY
    return len(kept)


def test_a_base_is_of_the_same_day(
    tmp_path: Path, random_: random.Random, noon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = a_conversation(random_, 2, instructions=500, turn=50)
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[first]))
    monkeypatch.setattr(clock, "wall_us", lambda: noon + DAY_US)
    writer.commit(Batch(entries=[second]))
    writer.close()
    next(iter(sorted((tmp_path / "bodies").iterdir()))).unlink()
    reader = SqliteReader(tmp_path)
    assert read(reader, second) == bodies_of(second)
    reader.close()


def test_a_batch_that_failed_is_no_base(tmp_path: Path, random_: random.Random) -> None:
    first, second, third = a_conversation(random_, 3, instructions=500, turn=50)
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[first]))
    writer.commit(Batch(entries=[second, first]))  # the first attempt fails, because one id is already stored
    writer.commit(Batch(entries=[third]))
    writer.close()
    reader = SqliteReader(tmp_path)
    for entry in (first, second, third):
        assert read(reader, entry) == bodies_of(entry)
    reader.close()


def test_a_batch_that_could_not_be_stored_is_no_base(
    tmp_path: Path, random_: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = a_conversation(random_, 3, instructions=500, turn=50)
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[first]))
    with monkeypatch.context() as patch:
        patch.setattr(writer._state, "store", raise_full)
        with pytest.raises(StoreFull):
            writer.commit(Batch(entries=[second]))
    writer.commit(Batch(entries=[third]))
    writer.commit(Batch(entries=[second]))
    writer.close()
    reader = SqliteReader(tmp_path)
    for entry in (first, second, third):
        assert read(reader, entry) == bodies_of(entry)
    reader.close()


def raise_full(batch: Batch) -> None:
    raise StoreFull("a test")


@pytest.mark.parametrize("removed", [(0,), (5,), (0, 1, 2, 3, 4), (1, 3, 5, 7), (9,), tuple(range(9))])
def test_requests_stay_complete_when_their_bases_are_deleted(
    tmp_path: Path, random_: random.Random, removed: tuple[int, ...]
) -> None:
    *entries, later = a_conversation(random_, 11, instructions=500, turn=50)
    for number in removed:
        entries[number].record.namespace = "gone"
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=entries))
    delete(writer, tmp_path, "gone")
    writer.commit(Batch(entries=[later]))
    writer.close()
    reader = SqliteReader(tmp_path)
    assert {number for number, entry in enumerate(entries) if reader.get(entry.record.id) is None} == {*removed}
    for entry in (later, *(entry for entry in entries if entry.record.namespace != "gone")):
        assert read(reader, entry) == bodies_of(entry)
    reader.close()
    assert open_store(tmp_path).verify(lambda done, total: None).damaged == 0
    database = apsw.Connection(str(tmp_path / DATABASE))
    assert database.execute("SELECT sum(records) FROM packs").get == 11 - len(removed)
    database.close()
    assert_dependents_are_listed(tmp_path)


def assert_dependents_are_listed(directory: Path) -> None:
    """Assert that the table ``dependents`` has exactly the bases that the rows of the requests have."""
    database = apsw.Connection(str(directory / DATABASE))
    rows = [(seq, decode_location(bodies)) for seq, bodies in database.execute("SELECT seq, bodies FROM requests")]
    based = [(*at.base.location[:2], seq) for seq, at in rows if at is not None and at.base is not None]
    assert sorted(based) == list(database.execute("SELECT * FROM dependents ORDER BY 1, 2, 3"))
    database.close()


def test_nothing_of_a_deleted_base_is_left(tmp_path: Path, random_: random.Random) -> None:
    instructions = {"role": "system", "content": text(random_, 1000)}
    first, second = (
        an_entry(json.dumps({"messages": [instructions, {"role": "user", "content": question}]}).encode(), user=user)
        for question, user in ((_SECRET, "gone"), ("hello", "other"))
    )
    first.record.namespace = "gone"
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[first, second]))
    assert is_found(tmp_path)
    delete(writer, tmp_path, "gone")
    writer.close()
    assert not is_found(tmp_path)
    reader = SqliteReader(tmp_path)
    assert read(reader, second) == bodies_of(second)
    reader.close()


def is_found(directory: Path) -> bool:
    """Return whether a file in the directory contains the secret."""
    return any(_SECRET.encode() in data for _, raw in contents_below(directory) for data in raw_and_decompressed(raw))


def test_all_packs_of_a_day_are_deleted_when_only_its_bases_expire(
    tmp_path: Path, random_: random.Random, noon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = list(a_conversation(random_, 6, instructions=500, turn=50))
    writer = SqliteWriter(tmp_path)
    writer._packs._max_bytes = 1  # one pack per request
    for number, entry in enumerate(entries):
        entry.record.namespace = "short" if number % 2 == 0 else "long"
        writer.commit(Batch(entries=[entry]))
    first_day = packs(tmp_path)
    assert len(first_day) == 6
    monkeypatch.setattr(clock, "wall_us", lambda: noon + 2 * DAY_US)
    expire(writer, "short", noon + DAY_US)
    writer.close()
    assert not {*first_day} & {*packs(tmp_path)}
    reader = SqliteReader(tmp_path)
    for entry in entries[1::2]:
        assert read(reader, entry) == bodies_of(entry)
    reader.close()


def expire(writer: SqliteWriter, namespace: str, before: int) -> None:
    """Expire the content of a namespace's requests that ended before a time, and free the space of that content."""
    cutoffs = Cutoffs(general=Cutoff(content=0, requests=0), by_pattern={namespace: Cutoff(before, 0)})
    while not writer.retain(cutoffs, clock.monotonic_ns() + 5_000_000).is_complete:
        pass
    maintain(writer)


def test_a_reader_finds_a_request_that_moves_meanwhile(
    tmp_path: Path, random_: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = a_conversation(random_, 3, instructions=500, turn=50)
    first.record.namespace = "gone"
    writer, reader = SqliteWriter(tmp_path), SqliteReader(tmp_path)
    writer.commit(Batch(entries=[first, second, third]))
    row = reader._row

    def row_before_it_moves(statement: str, key: str) -> object:
        found = row(statement, key)
        delete(writer, tmp_path, "gone")
        return found

    monkeypatch.setattr(reader, "_row", row_before_it_moves)
    stored = reader.get(second.record.id)
    assert stored is not None
    assert (stored.request, stored.response, stored.record.body_state) == (*bodies_of(second), "stored")
    reader.close()
    writer.close()


def test_a_backup_has_a_request_that_moves_meanwhile(
    tmp_path: Path, random_: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "log", tmp_path / "copy"
    first, second, third = a_conversation(random_, 3, instructions=500, turn=50)
    first.record.namespace = "gone"
    writer = SqliteWriter(source)
    writer.commit(Batch(entries=[first, second, third]))
    copy_pack = backup._PackCopy._copy_pack

    def copy_after_it_moved(self: backup._PackCopy, *arguments: Any) -> None:
        if first.record.namespace == "gone":
            delete(writer, source, "gone", until="erasing")
            first.record.namespace = "deleted"
        copy_pack(self, *arguments)

    monkeypatch.setattr(backup._PackCopy, "_copy_pack", copy_after_it_moved)
    found = open_store(source).files.back_up(target, lambda done, total: None)
    writer.close()
    assert (found.records, open_store(target).verify(lambda done, total: None).damaged) == (2, 0)
    reader = SqliteReader(target)
    for entry in (second, third):
        assert read(reader, entry) == bodies_of(entry)
    reader.close()


@pytest.mark.parametrize("seed", range(500 if LONG else 12))
def test_after_any_removals_the_remaining_requests_are_complete(tmp_path: Path, seed: int, noon: int) -> None:
    random_ = random.Random(seed)
    conversations = [
        a_conversation(random_, 100, instructions=random_.choice((20, 300, 2000)), turn=60) for _ in range(4)
    ]
    stored: dict[str, Entry] = {}
    writer = SqliteWriter(tmp_path)
    for step in range(30):
        what = random_.choice(("add", "add", "add", "delete", "expire", "maintain", "restart"))
        if what == "add":
            batch = [next(random_.choice(conversations)) for _ in range(random_.randint(1, 8))]
            for entry in batch:
                entry.record.namespace = f"{step}-{random_.randrange(3)}"
                entry.record.started_at = entry.record.ended_at = noon
            writer.commit(Batch(entries=batch))
            stored |= {entry.record.id: entry for entry in batch}
        elif what == "maintain":
            writer.run_maintenance(clock.monotonic_ns() + random_.choice((1, 1_000_000, 50_000_000)))
        elif what == "restart":
            writer.close()
            writer = SqliteWriter(tmp_path)
        elif stored:
            namespace = random_.choice(list(stored.values())).record.namespace
            stored = {id_: entry for id_, entry in stored.items() if entry.record.namespace != namespace}
            if what == "delete":
                delete(writer, tmp_path, namespace)
            else:
                expire(writer, namespace, noon + 1)
    writer.close()
    reader = SqliteReader(tmp_path)
    for entry in stored.values():
        assert read(reader, entry) == bodies_of(entry)
    reader.close()
    assert open_store(tmp_path).verify(lambda done, total: None).damaged == 0
    assert_dependents_are_listed(tmp_path)
