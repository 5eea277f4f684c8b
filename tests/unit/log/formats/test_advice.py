"""Test when each piece of advice is given, and what the advice says."""

from typing import Any

import pytest

from relaybook.log.formats.advice import advice

PATH = "/v1/chat/completions"


def codes(path: str = PATH, finish_reason: str | None = None, **parameters: Any) -> list[str]:
    return [remark["code"] for remark in advice(path, parameters, finish_reason)]


def test_a_good_exchange_has_no_advice() -> None:
    assert codes(finish_reason="stop", temperature=0.7) == []


@pytest.mark.parametrize(("temperature", "top_p", "expected"), [(0.5, 0.9, True), (1.0, 0.9, False), (0.5, 1.0, False)])
def test_temperature_and_top_p_together_have_advice(temperature: float, top_p: float, expected: bool) -> None:
    assert ("temperature_and_top_p" in codes(temperature=temperature, top_p=top_p)) is expected


def test_temperature_above_1_names_the_value() -> None:
    (remark,) = advice(PATH, {"temperature": 1.4}, None)
    assert remark["code"] == "temperature_above_1"
    assert "1.4" in remark["message"]


def test_temperature_1_has_no_advice() -> None:
    assert codes(temperature=1.0) == []


@pytest.mark.parametrize("reason", ["length", "stop,length", "max_output_tokens", "max_tokens", "MAX_TOKENS"])
def test_a_response_truncated_at_its_token_limit(reason: str) -> None:
    assert codes(finish_reason=reason) == ["cut_by_max_tokens"]


@pytest.mark.parametrize("path", ["/v1/chat/completions/chat/completions", "/v1/v1/messages", "/a/v1/v1/messages"])
def test_a_base_url_that_already_contains_the_path(path: str) -> None:
    assert codes(path=path) == ["doubled_path"]


@pytest.mark.parametrize(
    "limit",
    [
        {"max_completion_tokens": 5, "max_tokens": 9},
        {"max_output_tokens": 5},
        {"max_tokens": 5, "n": "x"},
        {"generationConfig": {"maxOutputTokens": 5}},
        {"generation_config": {"max_output_tokens": 5}},
    ],
)
def test_every_name_of_the_token_limit_is_read(limit: dict[str, Any]) -> None:
    (remark,) = advice(PATH, limit, "length")
    assert "token limit (5)" in remark["message"]


@pytest.mark.parametrize("wrong", ["1.5", True, None, [2], {"a": 2}])
def test_parameters_of_a_wrong_type_have_no_advice(wrong: object) -> None:
    assert codes(temperature=wrong, top_p=wrong) == []
    assert codes(finish_reason="length", max_tokens=wrong) == ["cut_by_max_tokens"]


def test_the_parameters_of_geminis_generation_config_are_read() -> None:
    config = {"temperature": 1.5, "topP": 0.9}
    expected = ["temperature_and_top_p", "temperature_above_1"]
    assert codes(generationConfig=config) == codes(generation_config=config) == expected
    assert codes(generationConfig=[config]) == []


def test_the_version_of_googles_api_after_v1_is_no_mistake() -> None:
    assert codes(path="/v1/v1/models/gemini-2.5-flash:generateContent") == []
