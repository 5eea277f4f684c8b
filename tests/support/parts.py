"""Read the parts of messages and outputs, as the API returns them."""

from typing import Any


def parts_of(message: dict[str, Any], *kinds: str) -> list[dict[str, Any]]:
    """Return the parts of these kinds."""
    return [part for part in message.get("parts", []) if part["kind"] in kinds]


def text_of(message: dict[str, Any], *kinds: str) -> str:
    """Return the texts of all parts of these kinds, joined. By default, results of tools count as text."""
    return "".join([part.get("text", "") for part in parts_of(message, *(kinds or ("text", "tool_result")))])
