"""Read the parts of Gemini's contents, which requests and responses share.

A part has one field with its content, such as ``text`` or ``functionCall``. All other fields describe it, such as
``thought`` and ``thoughtSignature``. Requests may spell every name in camelCase or in snake_case. Source: the types of
google-genai, version 3.6.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from relaybook.log.formats.conversation import PartKind
from relaybook.log.formats.lenient import as_json, is_object, join, text_or_none
from relaybook.log.formats.media import media
from relaybook.log.formats.output import PartBuilder

#: Google accepts and sends base64 for URLs, which data URLs do not allow.
_FOR_DATA_URL: Final = str.maketrans("-_", "+/")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")
_MAX_STEPS: Final = 100
#: Names of the fields of a part of the arguments that have its value.
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")

#: A function that reads the content of a part. It returns what it did not read, or `None` if it can read nothing.
_Reader = Callable[[PartBuilder, Any], "dict[str, Any] | None"]


def camel_case(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an object with all names in camelCase. Only the names of the object itself are changed."""
    if not any("_" in name for name in fields):
        return fields
    return fields | {camel(name): value for name, value in fields.items() if value is not None}


def camel(name: str) -> str:
    """Return a name in camelCase."""
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join([word[:1].upper() + word[1:] for word in rest])


def rest_of(fields: dict[str, Any], *read: str, **taken: object) -> dict[str, Any]:
    """Return the fields as sent, without those that were read.

    ``read`` are names in camelCase, whose values were read if they are texts. The names of ``taken`` were read,
    whatever their values are.
    """
    return {
        name: value
        for name, value in fields.items()
        if value is not None and (each := camel(name)) not in taken and not (each in read and isinstance(value, str))
    }


def read_part(item: object) -> PartBuilder:
    """Return a part. A text is a part, too."""
    builder = PartBuilder("other")
    if isinstance(item, str):
        _text(builder, item)
        return builder
    if not is_object(item):
        builder.texts = [as_json(item)]
        return builder
    fields = camel_case(item)
    for name, reader in _READERS.items():
        if fields.get(name) is None or (rest := reader(builder, fields[name])) is None:
            continue
        is_thought = builder.kind == "text" and fields.get("thought") is True
        if is_thought:
            builder.kind = "reasoning"
        builder.other = rest_of(item, **{name: rest}, **({"thought": True} if is_thought else {}))
        if rest:
            builder.other[name] = rest
        return builder
    builder.type = next((name for name, value in item.items() if is_object(value)), None)
    builder.other = {name: value for name, value in item.items() if value is not None}
    return builder


def _text(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    if not isinstance(value, str):
        return None
    builder.kind = "text"
    builder.texts = [value] if value else []
    return {}


def _media(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    """Read ``inlineData``, which has the bytes of a file, and ``fileData``, which has its address."""
    if not is_object(value):
        return None
    fields = camel_case(value)
    source = {
        "data": data.translate(_FOR_DATA_URL) if (data := text_or_none(fields.get("data"))) else None,
        "url": text_or_none(fields.get("fileUri")),
        "media_type": text_or_none(fields.get("mimeType")),
        "filename": text_or_none(fields.get("displayName")),
    }
    kind = _kind_of(source["media_type"])
    found, _ = media(kind, {name: text for name, text in source.items() if text is not None})
    if found is None:
        return None
    builder.kind, builder.media = kind, found
    # Media have either bytes or an address.
    return rest_of(value, "mimeType", "displayName", "data" if source["data"] else "fileUri")


def _kind_of(media_type: str | None) -> PartKind:
    prefix = (media_type or "").partition("/")[0].lower()
    return prefix if prefix in ("image", "audio", "video") else "file"  # type: ignore[return-value]  # of the tuple


def _call(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    if not is_object(value):
        return None
    fields = camel_case(value)
    builder.kind = "tool_call"
    builder.id = text_or_none(fields.get("id"))
    builder.names = [name] if (name := text_or_none(fields.get("name"))) else []
    arguments = fields.get("args")
    if arguments is not None:
        builder.arguments = [arguments if isinstance(arguments, str) else as_json(arguments)]
    return rest_of(value, "id", "name", args=arguments)


def _server_call(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    """Read the call of one of Google's own tools, whose name is its type."""
    rest = _call(builder, value)
    return None if rest is None else _name_by_type(builder, "toolCall", rest)


def _name_by_type(builder: PartBuilder, kind: str, rest: dict[str, Any]) -> dict[str, Any]:
    builder.type = kind
    name = text_or_none(camel_case(rest).get("toolType"))
    if builder.names or name is None:
        return rest
    builder.names = [name]
    return rest_of(rest, "toolType")


def _code(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    """Read code that Google executes. It is a call of the tool for code execution."""
    if not is_object(value):
        return None
    builder.kind, builder.type, builder.names = "tool_call", "executableCode", ["code_execution"]
    builder.id = text_or_none(value.get("id"))
    builder.arguments = [value["code"]] if isinstance(value.get("code"), str) else []
    return rest_of(value, "id", "code")


def _result(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    """Read the result of a function, an object. Its images and files are in ``parts``, which the caller reads."""
    if not is_object(value):
        return None
    fields = camel_case(value)
    builder.kind = "tool_result"
    builder.id = text_or_none(fields.get("id"))
    builder.names = [name] if (name := text_or_none(fields.get("name"))) else []
    response = fields.get("response")
    if response is not None:
        builder.texts = [response if isinstance(response, str) else as_json(response)]
    return rest_of(value, "id", "name", response=response)


def _server_result(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    rest = _result(builder, value)
    return None if rest is None else _name_by_type(builder, "toolResponse", rest)


def _code_result(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    if not is_object(value):
        return None
    builder.kind, builder.type = "tool_result", "codeExecutionResult"
    builder.id = text_or_none(value.get("id"))
    builder.texts = [value["output"]] if isinstance(value.get("output"), str) else []
    return rest_of(value, "id", "output")


def _transcript(builder: PartBuilder, value: object) -> dict[str, Any] | None:
    if not (is_object(value) and isinstance(value.get("text"), str)):
        return None
    builder.kind, builder.texts = "audio", [value["text"]]
    return rest_of(value, "text")


#: How each field with content is read. The first that a part has is its content.
_READERS: Final[dict[str, _Reader]] = {
    "functionCall": _call,
    "functionResponse": _result,
    "toolCall": _server_call,
    "toolResponse": _server_result,
    "executableCode": _code,
    "codeExecutionResult": _code_result,
    "inlineData": _media,
    "fileData": _media,
    "text": _text,
    "audioTranscription": _transcript,
}


class PartialArguments:
    """The arguments of a call that arrive piece by piece, each with the JSON path of its value."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def add(self, piece: object) -> bool:
        """Add a piece. Texts of one path are joined. Return whether the piece has a path and a value."""
        if not is_object(piece):
            return False
        fields = camel_case(piece)
        path, name = fields.get("jsonPath"), next((name for name in _VALUES if fields.get(name) is not None), None)
        if not isinstance(path, str) or name is None:
            return False
        value, before = fields[name], self._values.get(path)
        if name == "nullValue":
            self._values[path] = None
        elif not isinstance(value, str):
            self._values[path] = value
        elif isinstance(before, list):
            before.append(value)
        else:
            self._values[path] = [value]
        return True

    def json(self) -> str:
        """Return the arguments so far as JSON."""
        root: dict[str, Any] = {}
        for path, value in self._values.items():
            _set(root, path, join(value) if isinstance(value, list) else value)
        return as_json(root)


def _set(root: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a JSON path. A path that cannot be followed is the name of a field."""
    steps = [match[2] or match[1] or match[3] or match[4] or "" for match in _STEP.finditer(path)]
    indexes = [match[2] is not None for match in _STEP.finditer(path)]
    if not steps or indexes[0] or len(steps) > _MAX_STEPS:
        root[path] = value
        return
    here: Any = root
    for at, step in enumerate(steps):
        is_last = at == len(steps) - 1
        inner = value if is_last else [] if indexes[at + 1] else {}
        if isinstance(here, list):
            index = int(step) if indexes[at] else len(here)
            if index >= len(here):
                here.append(inner)
            elif is_last or not isinstance(here[index], dict | list):
                here[index] = inner
            here = here[min(index, len(here) - 1)]
        elif isinstance(here, dict):
            if is_last or not isinstance(here.get(step), dict | list):
                here[step] = inner
            here = here[step]
