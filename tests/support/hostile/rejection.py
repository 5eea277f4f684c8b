"""Check the response to a malformed request."""

from tests.support.hostile.cases import Case
from tests.support.raw_http import Response, parse


def assert_rejected(received: bytes, case: Case) -> Response:
    """Assert that the bytes are exactly the one response that the case expects."""
    response = parse(received)
    assert (response.status, response.header("service-error")) == (case.status, case.code), received[:2000]
    assert response.rest == b""
    assert (response.error["type"], response.error["code"], response.error["param"]) == ("relay_error", case.code, None)
    assert len(response.error["message"]) > 20
    assert response.header("content-type") == "application/json"
    connection = {"upgrade_required": "close, upgrade"}.get(case.code, "close")
    assert response.header("connection") == connection
    request_id = response.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    if request_id is not None:
        assert response.header("x-request-id") == request_id
    return response
