"""Test errors in OpenAI's format."""

import json

import pytest

from relaybook_demo.simulator import replies


@pytest.mark.parametrize("status", [400, 401, 408, 418, 429, 500, 502, 503, 599])
def test_every_status_has_an_error_in_openai_format(status: int) -> None:
    reply = replies.status_error(status)
    assert reply.status == status
    assert set(json.loads(reply.body)["error"]) == {"message", "type", "param", "code"}


def test_the_key_is_masked() -> None:
    error = json.loads(replies.bad_key("sk-invalid-0123456789-last").body)["error"]
    assert error["code"] == "invalid_api_key"
    assert "0123456789" not in error["message"]
