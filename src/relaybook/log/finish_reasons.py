"""Classify a provider's finish reason. Records keep the reason as the provider sent it. Pure, without I/O."""

from typing import Final, Literal

Finish = Literal["tool_calls", "token_limit", "context_window", "filtered"]

#: Reasons that are not listed, such as ``stop`` and ``end_turn``, mean that the response is complete.
FINISH_REASONS: Final[dict[str, Finish]] = {
    # Chat and legacy completions
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "token_limit",
    "content_filter": "filtered",
    # Responses API
    "max_output_tokens": "token_limit",
    # Anthropic
    "tool_use": "tool_calls",
    "max_tokens": "token_limit",
    "model_context_window_exceeded": "context_window",
    "refusal": "filtered",
}


def finish_of(reason: str | None) -> Finish | None:
    """Return the meaning of a finish reason. `None` if the response is complete or the reason is unknown."""
    return None if reason is None else FINISH_REASONS.get(reason)
