"""Classify a provider's finish reason. Records keep the reason as the provider sent it."""

from typing import Final, Literal

Finish = Literal["tool_calls", "token_limit", "context_window", "filtered"]

#: Finish reasons of chat and legacy completions, of the Responses API (``max_output_tokens``), of Anthropic, of Mistral
#: (``model_length``), of Zhipu (``sensitive``), of Gemini and Cohere (in capital letters), and of Gemini's interactions
#: (``requires_action``).
#: Reasons that are not listed, such as ``stop`` and ``end_turn``, mean that the response is complete. If the choices of
#: a response have different reasons, the reason that is first in this list counts.
FINISH_REASONS: Final[dict[str, Finish]] = {
    "length": "token_limit",
    "max_tokens": "token_limit",
    "max_output_tokens": "token_limit",
    "MAX_TOKENS": "token_limit",
    "model_context_window_exceeded": "context_window",
    "model_length": "context_window",
    "ERROR_LIMIT": "context_window",
    "content_filter": "filtered",
    "refusal": "filtered",
    "sensitive": "filtered",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_RECITATION": "filtered",
    "MODEL_ARMOR": "filtered",
    "ESCALATION": "filtered",
    "PUP_LIMITED_DISABLED": "filtered",
    "ERROR_TOXIC": "filtered",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "requires_action": "tool_calls",
    "TOOL_CALL": "tool_calls",
}


def finish_of(reason: str | None) -> Finish | None:
    """Return the meaning of a finish reason. Reasons of several choices are separated by commas.

    `None` if the response is complete or the reason is unknown.
    """
    if reason is None or "," not in reason:
        return FINISH_REASONS.get(reason or "")
    reasons = reason.split(",")
    return next((finish for known, finish in FINISH_REASONS.items() if known in reasons), None)
