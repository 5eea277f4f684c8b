"""Test Parquet exports with pyarrow: columns are typed, and row groups have a limited size."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.support.api_log import entry_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook.log.export import parquet
from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.numbers import DERIVED
from relaybook.log.query.filters import Filter
from relaybook.log.record import FIELDS, Detail, Feedback, Note
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Batch


def exported(*entries: Entry, bodies: bool = False, store: MemoryStore | None = None) -> pq.ParquetFile:
    store = store or MemoryStore()
    store.commit(Batch(entries=list(entries)))
    query = ExportQuery(file_format=file_format_of("parquet"), filter_=Filter(), bodies=bodies)
    return pq.ParquetFile(io.BytesIO(b"".join(Export(store, query).chunks())))


def rows(file: pq.ParquetFile) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = file.read().to_pylist()
    return found


def test_the_fields_of_a_record_are_typed_columns() -> None:
    record = record_of(
        1, properties={"channel": "ios"}, warnings=[Note("w", "m")], notes=[Note("n", "m")], cost_usd=0.5, failed=True
    )
    record.feedback = [Feedback(source="users", score=-0.5, at=7)]
    file = exported(entry_of(record))
    (row,) = rows(file)
    assert row.keys() == {*FIELDS, *DERIVED, "result"}
    assert row["started_at"] == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert row["properties"] == [("channel", "ios")]
    assert row["warnings"] == [{"code": "w", "message": "m"}]
    assert row["notes"] == [{"code": "n", "message": "m"}]
    at = datetime(1970, 1, 1, 0, 0, 0, 7, UTC)
    assert row["feedback"] == [{"source": "users", "score": -0.5, "label": None, "comment": None, "at": at}]
    assert (row["cost_usd"], row["failed"], row["input_tokens"], row["seq"]) == (0.5, True, None, 1)
    assert {str(field.type) for field in file.schema_arrow} >= {"timestamp[us, tz=UTC]", "bool", "int64", "double"}
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_an_empty_export_is_a_file_without_rows() -> None:
    assert rows(exported()) == []


def test_messages_tools_and_response_are_columns() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    tool = {"type": "function", "function": {"name": "weather"}}
    request = {
        "model": "gpt-4o",
        "temperature": 0.5,
        "tools": [tool],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Rome?"}, image]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "24"},
        ],
    }
    response = {"choices": [{"index": 0, "message": {"content": "24 °C"}, "finish_reason": "stop"}]}
    entry = entry_of(record_of(1), json.dumps(request).encode(), json.dumps(response).encode())
    (row,) = rows(exported(entry, bodies=True))
    user, assistant, result = row["messages"]
    assert (user["role"], user["parts"][0]["text"]) == ("user", "Rome?")
    assert json.loads(user["parts"][1]["media"]) == {"url": "https://example.com/a.png"}
    (called,), (told,) = assistant["parts"], result["parts"]
    assert (called["id"], called["name"], called["arguments"]) == ("call_1", "weather", "{}")
    assert (told["kind"], told["id"], told["text"]) == ("tool_result", "call_1", "24")
    (output,) = row["outputs"]
    assert (output["index"], output["finish_reason"]) == (0, "stop")
    assert [(part["kind"], part["text"]) for part in output["parts"]] == [("text", "24 °C")]
    assert list(map(json.loads, row["tools"])) == [tool]
    assert json.loads(row["parameters"]) == {"model": "gpt-4o", "temperature": 0.5}
    assert row["request_headers"] == [{"name": "content-type", "value": "application/json"}]


def test_unexpected_values_are_written_as_json() -> None:
    request = {"messages": [{"role": 7, "name": {"a": 1}, "tool_calls": [{"function": {"arguments": {"b": 2}}}, 3]}]}
    entry = entry_of(record_of(1), json.dumps(request).encode(), b"not JSON")
    (row,) = rows(exported(entry, bodies=True))
    (message,) = row["messages"]
    assert message["name"] is None
    assert [part["arguments"] for part in message["parts"]] == ['{"b":2}']
    assert row["outputs"][0]["parts"][0]["text"] == "not JSON"


def test_the_index_of_a_choice_beyond_64_bits_is_ignored() -> None:
    response = {"choices": [{"index": 99999999999999999999, "message": {"content": "24 °C"}}]}
    entry = entry_of(record_of(1), b'{"messages":[]}', json.dumps(response).encode())
    (row,) = rows(exported(entry, bodies=True))
    assert [(output["index"], output["parts"][0]["text"]) for output in row["outputs"]] == [(0, "24 °C")]


def test_requests_without_bodies_have_no_content(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entry_of(record_of(1, body_state="no_bodies"), None, None)
    (row,) = rows(exported(entry, bodies=True))
    assert (row["messages"], row["outputs"], row["parameters"]) == (None, None, None)
    store = MemoryStore()

    def damaged(*_: object) -> None:
        raise BodyDamaged("damaged")

    monkeypatch.setattr(store, "body", damaged)
    (row,) = rows(exported(entry_of(record_of(1)), bodies=True, store=store))
    assert (row["body_state"], row["messages"]) == ("expired", None)


def test_headers_of_expired_content_are_null_and_missing_headers_are_an_empty_list() -> None:
    expired = entry_of(record_of(1, body_state="expired"), None, None)
    expired.detail = None
    (first, second) = rows(exported(expired, entry_of(record_of(2), detail=Detail()), bodies=True))
    assert (first["request_headers"], first["response_headers"]) == (None, None)
    assert (second["request_headers"], second["response_headers"]) == ([], [])


def test_row_groups_are_written_as_they_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", 100_000)
    file = exported(*(entry_of(record_of(number)) for number in range(1600)))
    assert file.num_row_groups == 4
    assert [row["seq"] for row in rows(file)] == list(range(1, 1601))
