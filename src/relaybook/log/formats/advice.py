"""Remarks on an exchange that help its caller: what was noticed and what to do. Never a reason to refuse."""

from typing import Final, TypedDict

from relaybook.log.formats.facts import RequestFacts, ResponseFacts
from relaybook.log.record import AdviceCode

_CHAT_PATH: Final = "/chat/completions"
_TOKEN_LIMIT_REASONS: Final = frozenset({"length", "max_output_tokens", "max_tokens"})


class Remark(TypedDict):
    """``code`` is for programs, ``message`` for people."""

    code: AdviceCode
    message: str


def advice(path: str, request: RequestFacts, answer: ResponseFacts) -> list[Remark]:
    """Remarks in a fixed order; empty when there is nothing to say."""
    remarks: list[Remark] = []

    def remark(code: AdviceCode, message: str) -> None:
        remarks.append({"code": code, "message": message})

    temperature, top_p = request.temperature, request.top_p
    if temperature is not None and top_p is not None and temperature != 1 and top_p != 1:
        remark(
            "temperature_and_top_p",
            f"temperature ({temperature:g}) and top_p ({top_p:g}) are both set, and each narrows what the other left; "
            "set one of them and leave the other out.",
        )
    if temperature is not None and temperature > 1:
        remark(
            "temperature_above_1",
            f"temperature is {temperature:g}; above 1 answers tend to become incoherent. Use 0 to 1.",
        )
    if _TOKEN_LIMIT_REASONS.intersection((answer.finish_reason or "").split(",")):
        limit = "" if request.max_tokens is None else f" ({request.max_tokens})"
        remark(
            "cut_by_max_tokens",
            f"The answer was cut off at its token limit{limit}; raise max_completion_tokens or ask for less.",
        )
    if path.count(_CHAT_PATH) > 1:
        remark(
            "doubled_path",
            f"The path has {_CHAT_PATH} twice: clients add it to the base URL themselves. Let the base URL end in /v1.",
        )
    return remarks
