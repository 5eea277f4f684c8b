"""Test that stored bodies are served as attachments that browsers neither display nor execute."""

import gzip
from collections.abc import Iterator

import pytest
from tests.support.api_log import client_of, entry_of, head_of, log_of, open_of, record_of, running_of
from tests.support.asgi import Response
from tests.support.memory_store import MemoryStore

from relaybook.log import request_view
from relaybook.log.record import Detail, Side
from relaybook.log.store.entry import Body
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch

XSS = b"<script>alert(1)</script>"


def download(response: bytes, *headers: tuple[str, str], query: str = "") -> Response:
    store = MemoryStore()
    entry = entry_of(record_of(1), b"asked", response, Detail(response_head=head_of(*headers)))
    store.commit(Batch(entries=[entry]))
    return client_of(store).get(f"/api/requests/{record_of(1).id}/response{query}")


RENDERED = ("text/html", "TEXT/HTML; charset=x", "application/xhtml+xml", "image/svg+xml", "text/xml")
TEXTUAL = (
    "text/javascript",
    "application/json",
    "application/problem+json",
    "application/x-javascript",
    "text/event-stream",
)


@pytest.mark.parametrize("content_type", [*RENDERED, *TEXTUAL])
def test_types_that_browsers_render_are_served_as_plain_text(content_type: str) -> None:
    response = download(XSS, ("Content-Type", content_type))
    assert response.header("content-type") == "text/plain; charset=utf-8"
    assert response.header("content-disposition") == f'attachment; filename="{record_of(1).id}-response.txt"'
    assert response.header("x-content-type-options") == "nosniff"
    assert response.body == XSS


@pytest.mark.parametrize(
    "content_type", ["image/png", "application/pdf", "audio/mpeg", "", "nonsense", "multipart/mixed"]
)
def test_other_types_are_served_as_octet_stream(content_type: str) -> None:
    response = download(XSS, ("Content-Type", content_type))
    assert response.header("content-type") == "application/octet-stream"
    assert str(response.header("content-disposition")).endswith('-response.bin"')


def test_a_body_is_decoded_unless_requested_as_sent() -> None:
    compressed = gzip.compress(b'{"a": 1}')
    headers = (("content-type", "application/json"), ("content-encoding", "gzip"))
    assert download(compressed, *headers).body == b'{"a": 1}'
    sent = download(compressed, *headers, query="?as=sent")
    assert (sent.body, sent.header("content-type")) == (compressed, "application/octet-stream")
    assert sent.header("content-encoding") is None


def test_the_error_for_an_undecodable_body_says_how_to_get_it() -> None:
    response = download(b"not zip", ("content-encoding", "gzip"))
    assert (response.status, response.json()["error"]["code"]) == (422, "not_decodable")
    assert "as=sent" in response.json()["error"]["message"]


def test_a_compression_bomb_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_view, "MAX_BODY_BYTES", 100_000)
    assert download(gzip.compress(bytes(1_000_000)), ("content-encoding", "gzip")).status == 422
    assert download(bytes(100_001), ("content-encoding", "gzip")).status == 422


@pytest.mark.parametrize("side", ["request", "response"])
def test_an_id_with_slashes_finds_the_body(side: str) -> None:
    store = MemoryStore()
    made = entry_of(record_of(1, client_request_id="job/42"), request=b"text", response=b"text")
    store.commit(Batch(entries=[made]))
    response = client_of(store).get(f"/api/requests/job/42/{side}")
    assert (response.status, response.body) == (200, b"text")


def test_the_request_body_is_served() -> None:
    response = client_of(log_of(record_of(1))).get(f"/api/requests/{record_of(1).id}/request")
    assert (response.status, response.body) == (200, b"{}")


def test_a_body_is_found_by_a_foreign_id_and_its_file_name_has_relaybooks_id() -> None:
    response = client_of(log_of(record_of(1, completion_id="chatcmpl-9"))).get("/api/requests/chatcmpl-9/response")
    assert record_of(1).id in str(response.header("content-disposition"))


def test_an_empty_body_is_an_empty_file() -> None:
    assert (download(b"").status, download(b"").body) == (200, b"")


@pytest.mark.parametrize(
    ("state", "code"), [("no_bodies", "no_bodies"), ("expired", "expired"), ("stored", "not_found")]
)
def test_the_error_for_a_body_that_is_not_stored_says_why(state: str, code: str) -> None:
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record_of(1, body_state=state), None, None)]))
    response = client_of(store).get(f"/api/requests/{record_of(1).id}/request")
    assert (response.status, response.json()["error"]["code"]) == (404, code)


def test_the_bodies_of_a_running_request_are_not_served() -> None:
    store = MemoryStore()
    store.commit(Batch(running=[open_of(1)]))
    response = client_of(store).get(f"/api/requests/{running_of(1).id}/response")
    assert (response.status, response.json()["error"]["code"]) == (404, "still_running")


@pytest.mark.parametrize(("query", "param"), [("as=raw", "as"), ("as=", "as"), ("as=sent&as=sent", "as"), ("x=1", "x")])
def test_other_parameters_are_rejected(query: str, param: str) -> None:
    response = download(b"", query="?" + query)
    assert (response.status, response.json()["error"]["param"]) == (400, param)


def test_a_store_error_at_the_first_chunk_sets_the_status() -> None:
    class Failing(MemoryStore):
        def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
            def chunks() -> Iterator[bytes]:
                raise StoreUnavailable("disk I/O error")
                yield b""

            return chunks()

    store = Failing()
    store.commit(Batch(entries=[entry_of(record_of(1))]))
    assert client_of(store).get(f"/api/requests/{record_of(1).id}/request").status == 503


def test_a_large_body_is_streamed_in_chunks() -> None:
    store = MemoryStore()
    entry = entry_of(record_of(1))
    entry.response = Body(rest=[bytes([number]) * 1000 for number in range(200)])
    store.commit(Batch(entries=[entry]))
    body = client_of(store).get(f"/api/requests/{record_of(1).id}/response").body
    assert body == b"".join(bytes([number]) * 1000 for number in range(200))
