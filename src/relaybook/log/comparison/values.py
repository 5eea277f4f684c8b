"""Compare JSON values, such as the parameters of two requests, and the tools that they offer."""

import json
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from relaybook.log.comparison.sequences import Budget
from relaybook.log.comparison.texts import TextDifference, compare_texts, only_in
from relaybook.log.formats.chat_export import NotChat, declarations, to_chat_tool
from relaybook.log.formats.lenient import canonical_json

#: Longer values are compared as texts.
_SHORT: Final = 160
_MAX_VALUES: Final = 500
_MAX_DEPTH: Final = 8


class ValueDifference(Struct, omit_defaults=True):
    """A field whose values differ. A long value has `text` instead of `a` and `b`."""

    name: Annotated[str, Meta(description="Name of the field. The names of nested fields are joined by dots.")]
    a: Annotated[str | None, Meta(description="The value in `a` as JSON. Omitted if `a` does not have the field.")] = (
        None
    )
    b: Annotated[str | None, Meta(description="The value in `b` as JSON. Omitted if `b` does not have the field.")] = (
        None
    )
    text: Annotated[TextDifference | None, Meta(description="The difference, if one of the values is long.")] = None


class ToolDifference(Struct, omit_defaults=True):
    """A tool that only one of the requests offers, or whose definition differs."""

    name: str
    kind: Annotated[
        Literal["changed", "removed", "added"], Meta(description="`removed`: only in `a`. `added`: only in `b`.")
    ]
    text: Annotated[TextDifference | None, Meta(description="The difference of the definitions, as JSON.")] = None


def compare_values(a: dict[str, Any], b: dict[str, Any], budget: Budget) -> list[ValueDifference]:
    """Return the fields that differ, in the order of ``a``, and then the fields that only ``b`` has."""
    values_a, values_b = _flat(a), _flat(b)
    names = [name for name in values_a | values_b if not _are_equal(name, values_a, values_b)]
    return [_difference(name, values_a, values_b, budget) for name in names[:_MAX_VALUES]]


def _flat(fields: dict[str, Any], prefix: str = "", depth: int = _MAX_DEPTH) -> dict[str, Any]:
    """Return the fields of nested objects by their names, such as ``response_format.type``."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict) and value and depth:
            flat |= _flat(value, f"{prefix}{name}.", depth - 1)
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _are_equal(name: str, a: dict[str, Any], b: dict[str, Any]) -> bool:
    if name not in a or name not in b:
        return False
    return canonical_json(a[name]) == canonical_json(b[name])


def _difference(name: str, a: dict[str, Any], b: dict[str, Any], budget: Budget) -> ValueDifference:
    short_a, short_b = (json_text(values[name]) if name in values else None for values in (a, b))
    if max(len(short_a or ""), len(short_b or "")) <= _SHORT:
        return ValueDifference(name, short_a, short_b)
    if short_a is None or short_b is None:
        kind: Literal["removed", "added"] = "removed" if short_b is None else "added"
        return ValueDifference(name, text=only_in(kind, _readable((b if short_a is None else a)[name])))
    return ValueDifference(name, text=compare_texts(_readable(a[name]), _readable(b[name]), budget))


def _readable(value: Any) -> str:
    return value if isinstance(value, str) else pretty_json(value)


def compare_tools(a: Any, b: Any, budget: Budget) -> list[ToolDifference]:
    """Compare the values of the parameter ``tools``. Tools of different APIs are compared by their functions."""
    tools_a, tools_b = _tools(a), _tools(b)
    differences: list[ToolDifference] = []
    for name in tools_a | tools_b:
        before, after = tools_a.get(name), tools_b.get(name)
        if before is None or after is None:
            kind: Literal["removed", "added"] = "added" if before is None else "removed"
            differences.append(ToolDifference(name, kind, only_in(kind, before or after or "")))
        elif before != after:
            differences.append(ToolDifference(name, "changed", compare_texts(before, after, budget)))
    return differences


def _tools(value: Any) -> dict[str, str]:
    """Return the definitions of tools as JSON, by the names of the tools."""
    tools: dict[str, str] = {}
    for tool in value if isinstance(value, list) else []:
        try:
            functions = [_function(each) for each in declarations(tool)]
        except NotChat:
            functions = [tool]
        for function in functions:
            name = _name(function)
            at = sum(each == name or each.startswith(f"{name} (") for each in tools)
            tools[f"{name} ({at + 1})" if at else name] = pretty_json(function)
    return tools


def _function(tool: Any) -> Any:
    """Return the function of a tool in one form, or the tool itself if it is not a function."""
    try:
        chat = to_chat_tool(tool)
    except NotChat:
        return tool
    function = chat.get("function")
    return function if isinstance(function, dict) else chat


def _name(function: Any) -> str:
    if not isinstance(function, dict):
        return json_text(function)[:80]
    found = next((function[key] for key in ("name", "type") if isinstance(function.get(key), str)), None)
    return found or next(iter(function), "?")


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, with sorted keys."""
    return canonical_json(value).decode()


def pretty_json(value: Any) -> str:
    """Return a value as JSON on several lines, with sorted keys."""
    return json.dumps(json.loads(canonical_json(value)), indent=2, ensure_ascii=False)
