"""Test that all errors have the same structure, and that no error reveals internal details."""

import asyncio
import json
import logging
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from tests.support.api_log import app_of
from tests.support.asgi import Client, scope_of

from relaybook.api.errors import CODES, ApiError, ErrorMiddleware, error_response, handle_error
from relaybook.log.query.filters import BadFilter
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable, UnsupportedSchema

REQUEST = Request(scope_of("POST", "/healthz", []) | {"app": app_of()})


def handled(error: Exception) -> tuple[int, dict[str, Any]]:
    response = asyncio.run(handle_error(REQUEST, error))
    return response.status_code, json.loads(bytes(response.body))["error"]


@pytest.mark.parametrize(
    ("error", "status", "code", "param"),
    [
        (ApiError("no_bodies", "why"), 404, "no_bodies", None),
        (BadFilter("status", "why"), 400, "bad_parameter", "status"),
        (BadFilter("q", "why"), 400, "bad_parameter", "q"),
        (DeadlinePassed(), 503, "deadline", None),
        (StoreUnavailable("disk I/O error"), 503, "store_unavailable", None),
        (UnsupportedSchema("made by 9.0", 9, 2, "wait"), 503, "store_unavailable", None),
        (HTTPException(404), 404, "not_found", None),
        (HTTPException(405), 405, "method_not_allowed", None),
    ],
)
def test_each_expected_error_has_its_code(error: Exception, status: int, code: str, param: str | None) -> None:
    actual_status, body = handled(error)
    assert (actual_status, body["code"], body["param"]) == (status, code, param)
    assert body["type"] == ("api_error" if status >= 500 else "invalid_request_error")
    assert set(body) == {"message", "type", "param", "code"}
    assert body["message"]


def test_the_error_of_a_query_has_the_invalid_term_as_a_field() -> None:
    _, body = handled(BadFilter("q", "why.", term="model:", at=7))
    assert (body["message"], body["term"], body["at"]) == ("why.", "model:", 7)


def test_codes_have_error_statuses_and_meanings() -> None:
    assert all(400 <= status < 600 and meaning for status, meaning in CODES.values())


def test_the_error_for_an_unreadable_store_has_the_reason() -> None:
    assert "disk I/O error" in handled(StoreUnavailable("disk I/O error"))[1]["message"]


def test_a_401_response_has_www_authenticate() -> None:
    assert error_response(ApiError("not_signed_in", "x")).headers["www-authenticate"].startswith("Bearer")


def test_a_defect_is_logged_and_not_shown_to_the_client(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError("/secret/path")

    with caplog.at_level(logging.ERROR, "relaybook.api"):
        response = Client(ErrorMiddleware(broken)).get("/x")
    assert response.status == 500
    assert response.json()["error"]["code"] == "internal"
    assert b"secret" not in response.body
    assert [entry.message for entry in caplog.records] == ["api_failed"]


def test_a_download_that_the_store_cuts_off_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            raise StoreUnavailable("disk I/O error")
        except StoreUnavailable as error:  # as Starlette does
            raise RuntimeError("Caught handled exception, but response already started.") from error

    with caplog.at_level(logging.WARNING, "relaybook.api"), pytest.raises(StoreUnavailable):
        Client(ErrorMiddleware(broken)).get("/x")
    assert [(entry.levelname, entry.message) for entry in caplog.records] == [("WARNING", "response_cut")]


def test_a_response_that_has_started_is_aborted() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Client(ErrorMiddleware(broken)).get("/x")
