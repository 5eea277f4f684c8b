"""Derive advice from a request and its response: likely mistakes and how to fix them.

The recorder derives the advice when the exchange has ended, so advice does not affect the response.
"""

from typing import Any, Final, TypedDict

from relaybook.log.finish_reasons import finish_of
from relaybook.log.record import AdviceCode

_CHAT_PATH: Final = "/chat/completions"
#: A path of Google's API, whose last segment has a colon, may contain the version of the API after ``/v1``.
_DOUBLED_VERSION: Final = "/v1/v1/"
#: Names of the parameter with the maximum number of output tokens, best first.
_TOKEN_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens")
#: The fields in which Gemini's requests have the parameters of the generation.
_CONFIGS: Final = ("generationConfig", "generation_config")


class Advice(TypedDict):
    """One piece of advice. ``code`` is for programs, ``message`` for people."""

    code: AdviceCode
    message: str


def advice(path: str, parameters: dict[str, Any], finish_reason: str | None) -> list[Advice]:
    """Return the advice on an exchange, in a fixed order. The list is empty if there is no advice."""
    items: list[Advice] = []

    def add(code: AdviceCode, message: str) -> None:
        items.append({"code": code, "message": message})

    for name in _CONFIGS:
        if isinstance(config := parameters.get(name), dict):
            parameters = parameters | config
    temperature = _number(parameters.get("temperature"))
    top_p = _number(parameters.get("top_p"))
    top_p = _number(parameters.get("topP")) if top_p is None else top_p
    if temperature is not None and top_p is not None and temperature != 1 and top_p != 1:
        add(
            "temperature_and_top_p",
            f"temperature ({temperature:g}) and top_p ({top_p:g}) are both set, and their effects combine. Set only "
            "one of them.",
        )
    if temperature is not None and temperature > 1:
        add(
            "temperature_above_1",
            f"temperature is {temperature:g}. Above 1, responses tend to become incoherent. Use a value from 0 to 1.",
        )
    if finish_of(finish_reason) == "token_limit":
        limits = [_number(parameters.get(name)) for name in _TOKEN_LIMITS]
        limit = next((f" ({number:g})" for number in limits if number is not None), "")
        add(
            "cut_by_max_tokens",
            f"The response was truncated at its token limit{limit}. Raise the limit (max_tokens, max_completion_tokens "
            "or max_output_tokens), or ask for a shorter response.",
        )
    if path.count(_CHAT_PATH) > 1:
        add(
            "doubled_path",
            f"The path contains {_CHAT_PATH} twice. Clients append this path to the base URL. Use a base URL that ends "
            "with /v1.",
        )
    elif _DOUBLED_VERSION in path and ":" not in path.rpartition("/")[2]:
        add(
            "doubled_path",
            "The path contains /v1 twice. Anthropic's SDKs append /v1/messages to the base URL. Remove /v1 from the "
            "base URL.",
        )
    return items


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
