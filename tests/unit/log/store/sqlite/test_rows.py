"""Test that records are converted to rows and back."""

from msgspec.structs import replace
from tests.support.records import a_record

from relaybook.log.record import FIELDS, Feedback, Note
from relaybook.log.store.sqlite.other_fields import OTHER_FIELDS, UNKNOWN, other_fields_of, without_content
from relaybook.log.store.sqlite.rows import INSERT, SELECT_LIST, record_of, row_of
from relaybook.log.store.sqlite.schema import COLUMNS

NAMES = [column.name for column in COLUMNS]


def test_a_record_round_trips_through_its_row() -> None:
    record = a_record(
        properties={"a": 'b"\n'}, warnings=[Note("x", "y")], advice=[], failed=True, stream_requested=None, seq=4
    )
    row = [int(value) if isinstance(value, bool) else value for value in row_of(record, 4, b"")[:-1]]
    assert record_of([*row, None]) == record
    feedback = Feedback(source="a", score=-0.5, at=7)
    assert record_of([*row, b'[{"source": "a", "score": -0.5, "at": 7}]']) == replace(record, feedback=[feedback])


def test_row_of_uses_the_given_seq_and_does_not_change_the_record() -> None:
    record = a_record(properties={"a": "b"})
    row = row_of(record, 9, b"where")
    assert row[NAMES.index("seq")] == 9
    assert row[-1] == b"where"
    assert record.seq is None
    assert record.properties == {"a": "b"}


def test_empty_lists_and_objects_are_stored_as_null() -> None:
    row = row_of(a_record(), 1, b"")
    assert [row[NAMES.index(name)] for name in ("properties", "warnings", "advice")] == [None, None, None]


def test_records_do_not_share_mutable_values() -> None:
    row = [*row_of(a_record(), 1, b"")[:-1], None]
    record_of(row).properties["a"] = "b"
    record_of(row).feedback.append(Feedback(source="a", at=7))
    assert (record_of(row).properties, record_of(row).feedback) == ({}, [])


def test_statements_contain_every_field() -> None:
    assert sorted([*NAMES, *OTHER_FIELDS, "feedback"]) == sorted(FIELDS)
    assert INSERT.count("?") == len(COLUMNS) + 2
    assert SELECT_LIST.count('r."') == len(COLUMNS)
    assert SELECT_LIST.count("r.other_fields") == 1
    assert SELECT_LIST.count("FROM feedback") == 1


def test_without_content_removes_only_texts_of_the_content() -> None:
    record = a_record(error_message="e", input_preview="i", output_preview="o", user_agent="a")
    *row, other_fields, _ = row_of(record, 1, b"")
    expired = record_of([*row, without_content(other_fields), None])
    kept = replace(record, seq=1, error_message=None, input_preview=None, output_preview=None, body_state="expired")
    assert expired == kept
    *_, without_bodies, _ = row_of(a_record(body_state="no_bodies"), 1, b"")
    assert other_fields_of(without_content(without_bodies))["body_state"] == "no_bodies"


def test_damaged_fields_are_unknown_and_their_bytes_expire() -> None:
    record = a_record(user_agent="a", input_preview="i", model="m")
    *row, other_fields, _ = row_of(record, 1, b"")
    damaged = other_fields[:-3]
    assert record_of([*row, damaged, None]) == replace(record, seq=1, **UNKNOWN)
    assert other_fields_of(without_content(damaged)) == UNKNOWN | {"body_state": "expired"}
