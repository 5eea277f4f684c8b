"""Test that an export contains only requests that were recorded before it began."""

import json

import pytest
from tests.support.api_log import entry_of, log_of, record_of

from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.query.filters import BadFilter, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Batch

BODIES = pytest.mark.parametrize("bodies", [False, True])


def query(**options):
    return ExportQuery(**({"file_format": file_format_of("jsonl"), "filter_": Filter()} | options))


def seqs(chunks):
    return [json.loads(line)["seq"] for line in b"".join(chunks).splitlines()]


@BODIES
def test_all_requests_are_exported_in_recording_order(bodies: bool) -> None:
    store = log_of(*(record_of(number) for number in range(1203)))
    assert seqs(Export(store, query(bodies=bodies)).chunks()) == list(range(1, 1204))


@BODIES
def test_requests_recorded_meanwhile_are_not_exported(bodies: bool) -> None:
    store = log_of(*(record_of(number) for number in range(700)))
    export = Export(store, query(bodies=bodies))
    chunks = export.chunks()
    first = next(chunks)
    store.commit(Batch(entries=[entry_of(record_of(number)) for number in range(700, 900)]))
    assert seqs([first, *chunks]) == list(range(1, 701))


def test_only_matching_requests_are_exported() -> None:
    store = log_of(*(record_of(number, failed=number % 400 == 0) for number in range(1203)))
    assert seqs(Export(store, query(filter_=Filter((Term("failed", ("true",)),)))).chunks()) == [1, 401, 801, 1201]


def test_a_text_filter_exports_what_is_indexed_when_it_begins() -> None:
    store = log_of(*(record_of(number) for number in range(3)))
    store.add([(1, SearchText("refund")), (2, SearchText("refund"))], 2)
    assert seqs(Export(store, query(filter_=Filter((Term("words", ("refund",)),)))).chunks()) == [1, 2]


def test_csv_has_no_bodies() -> None:
    with pytest.raises(BadFilter, match="csv has no bodies"):
        Export(log_of(), query(file_format=file_format_of("csv"), bodies=True))


def test_a_store_that_makes_no_progress_ends_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    store = log_of(record_of(1))
    monkeypatch.setattr(store, "since", lambda seq, *_: ([], seq))
    with pytest.raises(DeadlinePassed):
        list(Export(store, query()).chunks())


def test_chunks_are_bounded() -> None:
    store = log_of()
    store.commit(Batch(entries=[entry_of(record_of(n), b"x" * 300_000, None) for n in range(5)]))
    chunks = list(Export(store, query(bodies=True)).chunks())
    assert max(map(len, chunks)) < 700_000
