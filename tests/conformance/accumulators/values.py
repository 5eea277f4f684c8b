"""Random values of the types of an SDK.

The types are read from the pydantic models of the installed SDK, so a new version of the SDK brings its own new types.
"""

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from random import Random
from types import NoneType, UnionType
from typing import IO, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel

#: Types of files that clients of an SDK can pass instead of text.
_FILES = (IO, os.PathLike)
#: Below this depth, lists and optional fields are empty.
_MAX_DEPTH = 4
TEXTS = (
    "",
    "a",
    "Sunny, ",
    "21 °C",
    " \n",
    "Zürich 😀",
    '{"a": 1}',
    "日本語",
    "\u2028",
    "[DONE]",
    "data: x\n\n",
    "\\",
    '"',
)


def text(random: Random) -> str:
    """Return a text, with characters that are hard to split or to quote."""
    return "".join(random.choice(TEXTS) for _ in range(random.randrange(5)))


def cut(random: Random, value: str) -> list[str]:
    """Return a text in pieces, some of them empty."""
    at = sorted(random.randrange(len(value) + 1) for _ in range(random.randrange(4)))
    return [value[start:end] for start, end in zip([0, *at], [*at, len(value)], strict=True)]


def json_object(random: Random) -> dict[str, Any]:
    """Return the arguments of a call."""
    values = (1, 1.5, True, None, "Zürich 😀", [], {}, [1, {"b": "\n"}], -0.0, 10**15)
    return {random.choice(("a", "city", "ü", "b c", "")): random.choice(values) for _ in range(random.randrange(4))}


def members(annotation: Any) -> list[type[BaseModel]]:
    """Return the models of a union."""
    annotation = _plain(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return [model for part in get_args(annotation) for model in members(part)]
    return [annotation]


def type_of(model: type[BaseModel]) -> str:
    """Return the value of ``type`` that identifies a model in a union."""
    (name,) = get_args(_plain(model.model_fields["type"].annotation))
    return str(name)


def by_type(annotation: Any) -> dict[str, type[BaseModel]]:
    return {type_of(model): model for model in members(annotation)}


def instance(random: Random, model: type[BaseModel], depth: int = 0, /, **fields: Any) -> dict[str, Any]:
    """Return a random value of a model as JSON. ``fields`` have given values."""
    made = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in fields:
            made[key] = fields[key]
        elif field.is_required() or key == "type" or (depth < _MAX_DEPTH and random.random() < 0.3):
            made[key] = _field(random, key, field.annotation, depth)
    return made | fields


def typed_dict(random: Random, model: Any, depth: int = 0) -> dict[str, Any]:
    """Return a random value of a TypedDict as JSON."""
    made = {}
    for name, annotation in typing_extensions.get_type_hints(model, include_extras=True).items():
        is_required = get_origin(annotation) is typing_extensions.Required
        if not is_required and (depth >= _MAX_DEPTH or random.random() < 0.5):
            continue
        made[name] = _field(random, name, annotation, depth)
    return made


def _field(random: Random, name: str, annotation: Any, depth: int) -> Any:
    """Return a random value of a field. Identifiers are short words, because they are cleaned."""
    made = value(random, annotation, depth + 1)
    is_identifier = name.endswith("id") or name in ("name", "filename")
    return f"{name}_{random.randrange(10**6)}" if is_identifier and isinstance(made, str) else made


def value(random: Random, annotation: Any, depth: int = 0) -> Any:
    """Return a random value of a type as JSON."""
    annotation = _plain(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal or origin is typing_extensions.Literal:
        return random.choice(arguments)
    if origin in (Union, UnionType):
        choices = [
            each
            for each in arguments
            if each is not NoneType and each not in _FILES and get_origin(each) not in _FILES and not _is_fallback(each)
        ]
        if depth > _MAX_DEPTH and NoneType in arguments:
            return None
        return value(random, random.choice(choices or arguments), depth)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return value(random, arguments[0], depth)
    if typing_extensions.is_typeddict(annotation):
        return typed_dict(random, annotation, depth)
    if origin in (list, tuple, Iterable, Sequence) or annotation is list:
        count = random.randrange(3) if depth < _MAX_DEPTH else 0
        return [value(random, arguments[0] if arguments else str, depth + 1) for _ in range(count)]
    if origin is dict or annotation is dict:
        return {"k": value(random, arguments[1] if arguments else str, depth + 1)} if depth < _MAX_DEPTH else {}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return instance(random, annotation, depth)
    if isinstance(annotation, type) and issubclass(annotation, str) and not issubclass(annotation, Enum):
        return text(random)
    if annotation is bool:
        return random.random() < 0.5
    if annotation is int:
        return random.randrange(10_000)
    if annotation is float:
        return random.randrange(100) / 4
    if annotation is bytes:
        return base64.b64encode(random.randbytes(random.randrange(9))).decode()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return random.choice(list(annotation)).value
    if annotation is NoneType:
        return None
    if annotation in (object, Any) or isinstance(annotation, TypeVar):
        return json_object(random)
    if getattr(annotation, "__module__", "") == "datetime":
        return "2026-11-29T00:00:00Z"
    raise TypeError(f"no value of type {annotation!r}")


def _is_fallback(annotation: Any) -> bool:
    """Return whether a member of a union is for values that the SDK does not know."""
    return getattr(annotation, "__name__", "").startswith("Unknown")


def interleaved(random: Random, *sequences: list[Any]) -> Iterator[Any]:
    """Yield the elements of all sequences in a random order that keeps the order of each sequence."""
    left = [list(sequence) for sequence in sequences if sequence]
    while left:
        chosen = random.choice(left)
        yield chosen.pop(0)
        left = [sequence for sequence in left if sequence]


def in_chunks(random: Random, data: bytes) -> list[bytes]:
    """Return bytes in random chunks: as they are, byte by byte, or of random sizes."""
    size = random.choice((1, 2, 17, 300, len(data) or 1))
    chunks = []
    while data:
        length = size if size < 3 else random.randrange(1, size + 1)
        chunks.append(data[:length])
        data = data[length:]
    return chunks


def _plain(annotation: Any) -> Any:
    while True:
        if isinstance(annotation, typing_extensions.TypeAliasType):
            annotation = annotation.__value__
        elif get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        else:
            return annotation
