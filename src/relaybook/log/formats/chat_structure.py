"""Convert requests and responses of any API to the structure of chat completions, which fine-tuning requires.

Reasoning is omitted, because the structure has no field for reasoning. For any other content that the structure cannot
express, functions raise NotChat.
"""

from collections.abc import Iterable
from typing import Any, Final


class NotChat(ValueError):
    """The structure of chat completions cannot express the request or the response."""


_TEXT_TYPES: Final = ("text", "input_text", "output_text")
_FUNCTION_TYPES: Final = (None, "function", "function_call", "tool_use")


def text_of(content: object) -> str:
    """Return the text of content that is a string or a list of text parts. Raises NotChat for any other content."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise NotChat
    return "\n".join(map(_text_of_part, content))


def _text_of_part(part: object) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") in _TEXT_TYPES else part
    if not isinstance(text, str):
        raise NotChat
    return text


def function_call(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    """Return a tool call. Raises NotChat if its id, name or arguments are not a string."""
    if not (isinstance(call_id, str) and isinstance(name, str) and isinstance(arguments, str)):
        raise NotChat
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def function_tools(tools: Iterable[object], parameters: str) -> list[dict[str, Any]]:
    """Convert tools to the structure of chat completions.

    In ``tools``, the fields of a function (such as ``name``) are at the top level of the tool. ``parameters`` is the
    name of the field with the schema of the function's arguments.
    """
    return [_function_tool(tool, parameters) for tool in tools]


def _function_tool(tool: object, parameters: str) -> dict[str, Any]:
    if not isinstance(tool, dict) or tool.get("type") not in (None, "function", "custom") or parameters not in tool:
        raise NotChat
    names = {"name": "name", "description": "description", parameters: "parameters", "strict": "strict"}
    function = {new: tool[old] for old, new in names.items() if tool.get(old) is not None}
    return {"type": "function", "function": function}


def response_message(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice of an assembled response as a message.

    Raises NotChat if the choice has a tool call that is not a function call.
    """
    message: dict[str, Any] = {"role": "assistant", "content": choice["text"]}
    calls = choice["tool_calls"]
    if any(call["type"] not in _FUNCTION_TYPES for call in calls):
        raise NotChat
    if len(calls) == 1 and calls[0]["id"] is None:  # only calls in the deprecated form ``function_call`` have no id
        message["function_call"] = {"name": calls[0]["name"], "arguments": calls[0]["arguments"]}
    elif calls:
        message["tool_calls"] = [function_call(call["id"], call["name"], call["arguments"]) for call in calls]
    return message
