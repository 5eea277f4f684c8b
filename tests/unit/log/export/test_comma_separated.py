"""Test CSV exports with Python's csv module.

Each field and each frequent property has a column. Rare properties share a column.
"""

import csv
import io
import json

from tests.support.api_log import log_of, record_of

from relaybook.log.export import comma_separated
from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.numbers import DERIVED
from relaybook.log.query.filters import Filter
from relaybook.log.record import FIELDS, Feedback, Note


def exported(*records):
    """Return the rows of an export as dictionaries with the column names as keys."""
    query = ExportQuery(file_format=file_format_of("csv"), filter_=Filter())
    text = b"".join(Export(log_of(*records), query).chunks()).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_field_and_every_property_has_a_column() -> None:
    first = record_of(1, properties={"channel": "ios", "a,b": 'x"y'}, cost_usd=0.5, tokens_estimated=True)
    rows = exported(first, record_of(2, properties={"channel": "web"}))
    assert {*FIELDS, *DERIVED, "result", "property.channel", "property.a,b"} == set(rows[0])
    assert [row["property.channel"] for row in rows] == ["ios", "web"]
    assert [row["property.a,b"] for row in rows] == ['x"y', ""]
    assert rows[0]["result"] == "complete"
    assert (rows[0]["cost_usd"], rows[1]["cost_usd"]) == ("0.5", "")
    assert (rows[0]["failed"], rows[0]["tokens_estimated"]) == ("false", "true")
    assert rows[0]["started_at"] == "2026-01-01T00:00:01.000000Z"


def test_formulas_are_defused() -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
    rows = exported(*(record_of(n, input_preview=text, properties={"p": text}) for n, text in enumerate(texts)))
    assert [row["input_preview"] for row in rows] == [f"'{text}" for text in texts]
    assert [row["property.p"] for row in rows] == [f"'{text}" for text in texts]


def test_text_with_line_breaks_and_quotes_stays_in_one_cell() -> None:
    text = 'a\nb\r\n"c", d'
    (row,) = exported(record_of(1, input_preview=text))
    assert row["input_preview"] == text


def test_notes_are_written_as_codes() -> None:
    (row,) = exported(record_of(1, warnings=[Note("one", "x"), Note("two", "y")], notes=[Note("three", "z")]))
    assert (row["warnings"], row["notes"], row["advice"]) == ("one two", "three", "")


def test_feedback_is_written_as_json() -> None:
    feedback = [Feedback(source="users", score=-1.0, label="=rude", at=0)]
    rows = exported(record_of(1, feedback=feedback), record_of(2))
    assert [json.loads(row["feedback"] or "null") for row in rows] == [
        [{"source": "users", "score": -1.0, "label": "=rude", "comment": None, "at": "1970-01-01T00:00:00.000000Z"}],
        None,
    ]


def test_rare_properties_share_a_column(monkeypatch) -> None:
    monkeypatch.setattr("relaybook.log.export.export.MAX_PROPERTIES", 1)
    rows = exported(record_of(1, properties={"a": "1"}), record_of(2, properties={"a": "2", "b": "=3"}))
    assert [row["property.a"] for row in rows] == ["1", "2"]
    assert "property.b" not in rows[0]
    assert (rows[0]["properties"], json.loads(rows[1]["properties"])) == ("", {"b": "=3"})


def test_columns_are_the_fields_of_a_record() -> None:
    assert set(comma_separated.COLUMNS) == {*FIELDS, *DERIVED, "result"}
