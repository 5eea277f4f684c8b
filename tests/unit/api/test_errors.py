"""Every refusal has one shape, and no defect shows its insides."""

import asyncio
import json
import logging
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from tests.support.asgi import Client, scope_of

from relaybook.api.errors import CODES, ApiError, Failures, answer_error, error_response
from relaybook.log.query.filters import BadFilter
from relaybook.log.store.errors import DeadlinePassed, StoreTooNew, StoreUnavailable

REQUEST = Request(scope_of("GET", "/", []))


def answered(error: Exception) -> tuple[int, dict[str, Any]]:
    response = asyncio.run(answer_error(REQUEST, error))
    return response.status_code, json.loads(bytes(response.body))["error"]


@pytest.mark.parametrize(
    ("error", "status", "code", "param"),
    [
        (ApiError("no_bodies", "why"), 404, "no_bodies", None),
        (BadFilter("status", "why"), 400, "bad_parameter", "status"),
        (BadFilter("q", "why"), 400, "bad_parameter", "q"),
        (DeadlinePassed(), 503, "deadline", None),
        (StoreUnavailable("disk I/O error"), 503, "store_unavailable", None),
        (StoreTooNew("made by 9.0"), 503, "store_unavailable", None),
        (HTTPException(404), 404, "not_found", None),
        (HTTPException(405), 405, "method_not_allowed", None),
    ],
)
def test_each_expected_error_has_its_code(error: Exception, status: int, code: str, param: str | None) -> None:
    got_status, shape = answered(error)
    assert (got_status, shape["code"], shape["param"]) == (status, code, param)
    assert shape["type"] == ("api_error" if status >= 500 else "invalid_request_error")
    assert set(shape) == {"message", "type", "param", "code"}
    assert shape["message"]


def test_codes_have_statuses_of_errors() -> None:
    assert all(400 <= status < 600 and meaning for status, meaning in CODES.values())


def test_a_store_that_cannot_be_read_is_told_with_its_reason() -> None:
    assert "disk I/O error" in answered(StoreUnavailable("disk I/O error"))[1]["message"]


def test_a_refused_sign_in_says_how() -> None:
    assert error_response(ApiError("not_signed_in", "x")).headers["www-authenticate"].startswith("Bearer")


def test_a_defect_is_told_to_the_operator_and_not_to_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError("/secret/path")

    with caplog.at_level(logging.ERROR, "relaybook.api"):
        answer = Client(Failures(broken)).get("/x")
    assert answer.status == 500
    assert answer.json()["error"]["code"] == "internal"
    assert b"secret" not in answer.body
    assert [entry.message for entry in caplog.records] == ["api_failed"]


def test_a_response_already_begun_is_broken_off() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Client(Failures(broken)).get("/x")
