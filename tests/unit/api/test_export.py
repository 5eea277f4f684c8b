"""Test ``GET /api/export``: files are sent as attachments, and errors are sent before the first byte of a file."""

import re
import sys

import pytest
from tests.support.api_log import client_of, log_of, record_of

from relaybook.log.store.errors import StoreUnavailable


def test_a_file_is_an_attachment_with_a_name() -> None:
    response = client_of(log_of(record_of(1), record_of(2))).get("/api/export?format=jsonl")
    assert response.status == 200
    assert response.header("content-type") == "application/x-ndjson"
    disposition = response.header("content-disposition")
    assert re.fullmatch(r'attachment; filename="relaybook-\d{4}-\d\d-\d\dT\d{6}Z\.jsonl"', disposition)
    lines = response.body.splitlines()
    assert lines[-1].startswith(b'{"end":true,"count":2,"labels":[{')
    assert len(lines) == 3


def test_filters_are_those_of_the_list() -> None:
    client = client_of(log_of(record_of(1, namespace="ios"), record_of(2)))
    assert client.get("/api/export?format=jsonl&q=namespace:ios&end=false").body.count(b"\n") == 1
    assert client.get("/api/export?format=csv&namespace=ios").body.count(b"\r\n") == 2


def test_csv_ends_with_a_count_only_on_request() -> None:
    client = client_of(log_of(record_of(1)))
    assert b'"end"' not in client.get("/api/export?format=csv").body
    assert client.get("/api/export?format=csv&end=true").body.endswith(b'\r\n{"end":true,"count":1}\n')


def test_bodies_are_exported_on_request() -> None:
    client = client_of(log_of(record_of(1)))
    assert b'"request":{"text":"{}"}' in client.get("/api/export?format=jsonl&bodies=true").body
    assert b'"request":' not in client.get("/api/export?format=jsonl").body


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("", "format"),
        ("format=xml", "format"),
        ("format=jsonl&format=csv", "format"),
        ("format=jsonl&bodies=yes", "bodies"),
        ("format=csv&bodies=true", "bodies"),
        ("format=jsonl&end=1", "end"),
        ("format=jsonl&nmespace=a", "nmespace"),
        ("format=jsonl&duration=fast", "duration"),
    ],
)
def test_an_invalid_query_is_an_error(query: str, param: str) -> None:
    response = client_of(log_of(record_of(1))).get(f"/api/export?{query}")
    assert response.status == 400
    assert response.json()["error"]["param"] == param


def test_parquet_without_pyarrow_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "relaybook.log.export.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    response = client_of(log_of(record_of(1))).get("/api/export?format=parquet")
    assert response.status == 400
    assert "pip install 'pyarrow>=20'" in response.json()["error"]["message"]


def test_a_store_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    store = log_of(record_of(1))

    def fail(*_):
        raise StoreUnavailable("no disk")

    monkeypatch.setattr(store, "since", fail)
    response = client_of(store).get("/api/export?format=jsonl")
    assert response.status == 503


def test_the_token_is_required() -> None:
    client = client_of(log_of(record_of(1)), token="secret")
    assert client.get("/api/export?format=jsonl").status == 401
    assert client.get("/api/export?format=jsonl", ("Authorization", "Bearer secret")).status == 200
