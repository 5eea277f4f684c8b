"""Test when each piece of advice is given, and what the advice says."""

import pytest

from relaybook.log.formats.advice import advice
from relaybook.log.formats.facts import RequestFacts, ResponseFacts

PATH = "/v1/chat/completions"


def codes(path: str = PATH, request: RequestFacts | None = None, response: ResponseFacts | None = None) -> list[str]:
    return [remark["code"] for remark in advice(path, request or RequestFacts(), response or ResponseFacts())]


def test_a_good_exchange_has_no_advice() -> None:
    assert codes(request=RequestFacts(temperature=0.7), response=ResponseFacts(finish_reason="stop")) == []


@pytest.mark.parametrize(("temperature", "top_p", "expected"), [(0.5, 0.9, True), (1.0, 0.9, False), (0.5, 1.0, False)])
def test_temperature_and_top_p_together_have_advice(temperature: float, top_p: float, expected: bool) -> None:
    request = RequestFacts(temperature=temperature, top_p=top_p)
    assert ("temperature_and_top_p" in codes(request=request)) is expected


def test_temperature_above_1_names_the_value() -> None:
    (remark,) = advice(PATH, RequestFacts(temperature=1.4), ResponseFacts())
    assert remark["code"] == "temperature_above_1"
    assert "1.4" in remark["message"]


def test_temperature_1_has_no_advice() -> None:
    assert codes(request=RequestFacts(temperature=1.0)) == []


@pytest.mark.parametrize("reason", ["length", "stop,length", "max_output_tokens", "max_tokens"])
def test_a_response_truncated_at_its_token_limit(reason: str) -> None:
    assert codes(response=ResponseFacts(finish_reason=reason)) == ["cut_by_max_tokens"]


@pytest.mark.parametrize("path", ["/v1/chat/completions/chat/completions", "/v1/v1/messages", "/a/v1/v1/messages"])
def test_a_base_url_that_already_contains_the_path(path: str) -> None:
    assert codes(path=path) == ["doubled_path"]
