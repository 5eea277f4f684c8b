"""Compare two lists of messages: find the messages that belong together, and compare their texts.

A message is compared as one text with all of its parts: texts, tool calls with their arguments, and descriptions of
images and files. So messages of different APIs can be compared. Ids are not compared, because they always differ.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from relaybook.log.comparison.sequences import Budget, Run, common_runs
from relaybook.log.comparison.texts import TextDifference, compare_texts, only_in
from relaybook.log.comparison.values import ValueDifference, compare_values, pretty_json
from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Message, Output, Part
from relaybook.log.formats.media import describe_media

DifferenceKind = Literal["equal", "changed", "removed", "added", "more"]
#: Further messages that differ are only counted.
_MAX_CHANGED: Final = 200
#: Fields of messages and parts that differ in every request.
_IDS: Final = frozenset({"id", "call_id", "index", "status"})


class MessageDifference(Struct, omit_defaults=True):
    """A message that differs, or a run of equal messages. Empty fields are omitted."""

    kind: Annotated[
        DifferenceKind,
        Meta(
            description="`removed`: only in `a`. `added`: only in `b`. `equal`: a run of messages. `more`, at the end: "
            "further messages that differ and are left out."
        ),
    ]
    a: Annotated[int | None, Meta(description="Index of the message, or of the first message of a run, in `a`.")] = None
    b: Annotated[int | None, Meta(description="The same in `b`.")] = None
    count: Annotated[int, Meta(description="Number of messages. Omitted if it is 1.")] = 1
    role: Annotated[str | None, Meta(description="The role, or the type of an item that is not a message.")] = None
    name: Annotated[str | None, Meta(description="Name of the tool whose result this is, or of the author.")] = None
    text: Annotated[
        TextDifference | None, Meta(description="The difference of the texts. Omitted if the texts are equal.")
    ] = None
    fields: Annotated[
        list[ValueDifference], Meta(description="Other fields that differ, such as `cache_control`.")
    ] = []


class Compared(NamedTuple):
    """What is compared of a message."""

    role: str
    name: str | None
    text: str
    fields: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str]:
        """Return a value that is equal for equal messages."""
        return self.role, self.text, pretty_json(self.fields) if self.fields else ""


def compared_message(message: Message) -> Compared:
    """Return what is compared of a message."""
    item = next((part.type for part in message.parts if part.type), None)
    name = message.name or next((part.name for part in message.parts if part.kind == "tool_result" and part.name), None)
    return Compared(message.role or item or "", name, text_of(message.parts), _fields(message.other, message.parts))


def compared_output(output: Output) -> Compared:
    """Return what is compared of an output of a response."""
    return Compared("assistant", None, text_of(output.parts), _fields(output.other, output.parts))


def text_of(parts: Sequence[Part]) -> str:
    """Return the text of all parts. Adjacent texts are one text, because providers split sentences into parts."""
    texts = []
    for is_text, group in groupby(parts, lambda part: part.kind == "text"):
        each = [text for part in group if (text := _text(part))]
        texts += ["".join(each)] if is_text else each
    return "\n".join(filter(None, texts))


def _text(part: Part) -> str:
    match part.kind:
        case "text" | "tool_result":
            return part.text or ""
        case "tool_call":
            return f"ƒ {part.name or '–'}({_arguments(part.arguments)})"
        case "image" | "audio" | "video" | "file":
            return "\n".join(filter(None, (_media(part), part.text)))
        case "other":
            return part.text or f"[{part.type or 'other'}] {pretty_json(_without_ids(part.other))}"
        case _:
            return f"({part.kind}) {part.text}" if part.text else ""


def _arguments(arguments: str | None) -> str:
    """Return the arguments of a tool call in one spelling, because clients parse them and write them anew."""
    value = lenient.load((arguments or "").encode(errors="replace"))
    if value is None:
        return arguments or ""
    return "" if value == {} else pretty_json(value)


def _media(part: Part) -> str:
    """Describe an image or another file, with a hash of its bytes or its address."""
    described = describe_media(part.kind, part.media)
    source = part.media and (part.media.url or part.media.name)
    if not source:
        return described
    digest = blake2b(source.rpartition(";base64,")[2].encode(errors="replace"), digest_size=4).hexdigest()
    return f"{described[:-1]} #{digest}]"


def _fields(other: dict[str, Any], parts: Iterable[Part]) -> dict[str, Any]:
    """Return all other fields of a message and its parts. A field of several parts is a list."""
    fields = _without_ids(other)
    for part in parts:
        if part.kind != "other":
            for name, value in _without_ids(part.other).items():
                fields[name] = [*fields[name], value] if isinstance(fields.get(name), list) else [value]
    return fields


def _without_ids(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in _IDS and value not in (None, [], {})}


def compare_messages(a: Sequence[Compared], b: Sequence[Compared], budget: Budget) -> list[MessageDifference]:
    """Return the messages that differ, and the runs of equal messages, in order. Empty if all messages are equal."""
    keys_a, keys_b = [message.key for message in a], [message.key for message in b]
    if keys_a == keys_b:
        return []
    differences: list[MessageDifference] = []
    changed = 0
    a_from = b_from = 0
    for run in (*common_runs(keys_a, keys_b, budget), Run(len(a), len(b), 0)):
        for pair in _pairs(a, b, (a_from, run.a, b_from, run.b), budget):
            changed += 1
            if changed <= _MAX_CHANGED:
                differences.append(_difference(a, b, pair, budget))
        if run.length and changed <= _MAX_CHANGED:
            differences.append(MessageDifference("equal", run.a, run.b, run.length))
        a_from, b_from = run.a + run.length, run.b + run.length
    if changed > _MAX_CHANGED:
        differences.append(MessageDifference("more", count=changed - _MAX_CHANGED))
    return differences


#: The indexes of two messages that belong together. `None` if a message belongs to no message of the other list.
_Pair = tuple[int | None, int | None]


def _pairs(
    a: Sequence[Compared], b: Sequence[Compared], bounds: tuple[int, int, int, int], budget: Budget
) -> Iterator[_Pair]:
    """Yield all messages of a part without equal messages. Messages with the same roles belong together, in order."""
    a_from, a_to, b_from, b_to = bounds
    roles_a, roles_b = ([(each.role, each.name) for each in part] for part in (a[a_from:a_to], b[b_from:b_to]))
    for run in (*common_runs(roles_a, roles_b, budget), Run(len(roles_a), len(roles_b), 0)):
        yield from ((at, None) for at in range(a_from, a_to - len(roles_a) + run.a))
        yield from ((None, at) for at in range(b_from, b_to - len(roles_b) + run.b))
        a_from, b_from = a_to - len(roles_a) + run.a, b_to - len(roles_b) + run.b
        yield from ((a_from + at, b_from + at) for at in range(run.length))
        a_from, b_from = a_from + run.length, b_from + run.length


def _difference(a: Sequence[Compared], b: Sequence[Compared], pair: _Pair, budget: Budget) -> MessageDifference:
    at, other = pair
    if at is None or other is None:
        kind: Literal["removed", "added"] = "added" if at is None else "removed"
        message = b[other] if other is not None else a[at or 0]
        fields = ({}, message.fields) if at is None else (message.fields, {})
        return MessageDifference(
            kind,
            at,
            other,
            role=message.role,
            name=message.name,
            text=only_in(kind, message.text),
            fields=compare_values(*fields, budget),
        )
    before, after = a[at], b[other]
    return MessageDifference(
        "changed",
        at,
        other,
        role=after.role,
        name=after.name,
        text=compare_texts(before.text, after.text, budget),
        fields=compare_values(before.fields, after.fields, budget),
    )
