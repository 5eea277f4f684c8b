"""Write the model as a chat completions request, whatever API it came from. Fine-tuning requires this structure.

Reasoning is omitted, because the structure has no field for it. For any other content that the structure cannot
express, functions raise NotChat.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from relaybook.log.formats.conversation import Message, Output, Part, Request
from relaybook.log.formats.tool_results import link_results

#: Parameters that say that the provider adds messages which only it has.
_ELSEWHERE: Final = ("previous_response_id", "previous_interaction_id", "conversation", "prompt")
_COPIED: Final = ("parallel_tool_calls", "functions")
_REASONING: Final = ("redacted_thinking",)
#: Gemini's names of the types in JSON schemas.
_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_MAX_DEPTH: Final = 100


class NotChat(ValueError):
    """The structure of chat completions cannot express the request or the response."""


def to_chat(request: Request) -> dict[str, Any]:
    """Return the messages and tools of a request as fields of a chat completions request. Raises NotChat."""
    parameters = request.parameters
    if request.omitted or any(parameters.get(name) for name in _ELSEWHERE):
        raise NotChat
    messages: list[dict[str, Any]] = []
    for message in _with_ids(request.messages):
        _add(messages, message)
    if not messages:
        raise NotChat
    fields: dict[str, Any] = {"messages": messages}
    tools = parameters.get("tools")
    if isinstance(tools, list) and tools:
        fields["tools"] = [to_chat_tool(each) for tool in tools for each in declarations(tool)]
    return fields | {name: parameters[name] for name in _COPIED if parameters.get(name) is not None}


def response_message(output: Output) -> dict[str, Any]:
    """Return an output as the message of the assistant. Raises NotChat."""
    return _assistant([_with_id(part, f"call_of_response_{at}") for at, part in enumerate(output.parts, 1)])


def _with_ids(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages with ids in calls and results that have none.

    Gemini finds the call of a result by the name of the function, and by the order of the calls.
    """
    link_results(messages)
    ids: dict[tuple[int, int] | None, str] = {}
    for at, message in enumerate(messages):
        parts = []
        for place, part in enumerate(message.parts):
            if part.kind == "tool_call" and not part.id:
                ids[at, place] = f"call_{len(ids) + 1}"
                part = _with_id(part, ids[at, place])
            elif part.kind == "tool_result" and not part.id and part.call in ids:
                part = _with_id(part, ids[part.call])
            parts.append(part)
        yield msgspec.structs.replace(message, parts=parts)


def _with_id(part: Part, part_id: str) -> Part:
    """Return a call of a function or its result with this id, if it has none."""
    if part.kind not in ("tool_call", "tool_result") or part.id or part.type is not None:
        return part
    return msgspec.structs.replace(part, id=part_id)


def _add(messages: list[dict[str, Any]], message: Message) -> None:
    role = message.role
    parts = [part for part in message.parts if part.kind != "reasoning" and part.type not in _REASONING]
    if role is None:
        raise NotChat
    if message.parts and not parts:
        return  # only reasoning
    if role in ("tool", "function") and parts:
        result, *more = parts
        if more or result.kind != "tool_result":
            raise NotChat
        sent: dict[str, Any] = {"role": role, "content": result.text or ""}
        if role == "tool":
            sent["tool_call_id"] = result.id or ""
    elif role == "assistant":
        sent = _assistant(parts)
        # The Responses API has calls as items of their own, after the text.
        if all(part.kind == "tool_call" for part in parts) and messages and messages[-1]["role"] == role:
            messages[-1].setdefault("tool_calls", []).extend(sent.get("tool_calls", []))
            return
    else:
        sent = {"role": role, "content": _content(parts)}
    if message.name is not None:
        sent["name"] = message.name
    if "weight" in message.other:  # a parameter of fine-tuning
        sent["weight"] = message.other["weight"]
    messages.append(sent)


def _assistant(parts: Sequence[Part]) -> dict[str, Any]:
    texts = [part for part in parts if part.kind in ("text", "audio") and part.text]
    refusals = [part.text for part in parts if part.kind == "refusal" and part.text]
    calls = [part for part in parts if part.kind == "tool_call"]
    skipped = [part for part in parts if part.kind == "reasoning" or part.type in _REASONING]
    if len(texts) + len(refusals) + len(calls) + len(skipped) < len(parts):
        raise NotChat
    message: dict[str, Any] = {"role": "assistant", "content": "".join([part.text or "" for part in texts]) or None}
    if refusals:
        message["refusal"] = "".join(refusals)
    if len(calls) == 1 and calls[0].type == "function_call":  # the deprecated form, without id
        message["function_call"] = {"name": calls[0].name or "", "arguments": calls[0].arguments or ""}
    elif calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _call(call: Part) -> dict[str, Any]:
    if not (call.id and call.name) or call.type not in (None, "custom"):
        raise NotChat
    if call.type == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments or ""}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or ""}}


def _content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    if all(part.kind == "text" for part in parts):
        return "\n".join([part.text or "" for part in parts])
    return [_content_part(part) for part in parts]


def _content_part(part: Part) -> dict[str, Any]:
    if part.kind == "text":
        return {"type": "text", "text": part.text or ""}
    url = part.media.url if part.media is not None else None
    if part.kind == "image" and url is not None:
        detail = part.other.get("detail")
        return {"type": "image_url", "image_url": {"url": url} | ({} if detail is None else {"detail": detail})}
    raise NotChat


def declarations(tool: object) -> list[Any]:
    """Return the functions of a tool: those that Gemini declares in one tool, or the tool itself."""
    if not isinstance(tool, dict):
        return [tool]
    name = next((name for name in ("functionDeclarations", "function_declarations") if name in tool), None)
    if name is None or len(tool) > 1 or not isinstance(tool[name], list):
        return [tool]
    return [_declaration(each) for each in tool[name]]


def _declaration(function: object) -> object:
    """Return a function that Gemini declares with a JSON schema as its parameters."""
    if not isinstance(function, dict):
        return function
    schema = next((name for name in ("parametersJsonSchema", "parameters_json_schema") if name in function), None)
    if schema is not None:
        return function | {"parameters": function[schema]}
    return function | {"parameters": _json_schema(function.get("parameters", {"type": "OBJECT"}))}


def _json_schema(schema: Any, depth: int = _MAX_DEPTH) -> Any:
    """Return a schema with the names of types as JSON Schema has them."""
    if not depth:
        raise NotChat
    if isinstance(schema, list):
        return [_json_schema(each, depth - 1) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: each.lower()
        if name == "type" and isinstance(each, str) and each in _TYPES
        else _json_schema(each, depth - 1)
        for name, each in schema.items()
    }


def to_chat_tool(tool: object) -> dict[str, Any]:
    """Return a tool. Other APIs have the fields of the function at the top level of the tool."""
    if not isinstance(tool, dict):
        raise NotChat
    if isinstance(tool.get("function"), dict) or isinstance(tool.get("custom"), dict):
        return tool
    schema = next((name for name in ("parameters", "input_schema") if name in tool), None)
    if tool.get("type") not in (None, "function", "custom") or schema is None:
        raise NotChat
    names = {"name": "name", "description": "description", schema: "parameters", "strict": "strict"}
    function = {new: tool[old] for old, new in names.items() if tool.get(old) is not None}
    return {"type": "function", "function": function}
