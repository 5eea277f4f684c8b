"""Claims about remarks: when each is made, and that it says what to do."""

import pytest

from relaybook.log.formats.advice import advice
from relaybook.log.formats.facts import RequestFacts, ResponseFacts

PATH = "/v1/chat/completions"


def codes(path: str = PATH, request: RequestFacts | None = None, answer: ResponseFacts | None = None) -> list[str]:
    return [remark["code"] for remark in advice(path, request or RequestFacts(), answer or ResponseFacts())]


def test_a_good_exchange_gets_no_remark() -> None:
    assert codes(request=RequestFacts(temperature=0.7), answer=ResponseFacts(finish_reason="stop")) == []


@pytest.mark.parametrize(("temperature", "top_p", "said"), [(0.5, 0.9, True), (1.0, 0.9, False), (0.5, 1.0, False)])
def test_temperature_and_top_p_together(temperature: float, top_p: float, said: bool) -> None:
    request = RequestFacts(temperature=temperature, top_p=top_p)
    assert ("temperature_and_top_p" in codes(request=request)) is said


def test_temperature_above_1_names_the_value() -> None:
    (remark,) = advice(PATH, RequestFacts(temperature=1.4), ResponseFacts())
    assert remark["code"] == "temperature_above_1"
    assert "1.4" in remark["message"]


def test_temperature_1_is_nothing_to_remark() -> None:
    assert codes(request=RequestFacts(temperature=1.0)) == []


@pytest.mark.parametrize("reason", ["length", "stop,length", "max_output_tokens"])
def test_an_answer_cut_at_its_limit(reason: str) -> None:
    assert codes(answer=ResponseFacts(finish_reason=reason)) == ["cut_by_max_tokens"]


def test_a_base_url_that_already_had_the_path() -> None:
    assert codes(path="/v1/chat/completions/chat/completions") == ["doubled_path"]
