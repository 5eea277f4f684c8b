"""Say where a prompt first differs from an earlier prompt, and in what."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from relaybook.log.formats.conversation import Media
from relaybook.log.formats.media import describe_media
from relaybook.log.formats.prompt import Prompt, Section, Segment, is_same_place
from relaybook.log.formats.text_difference import difference

ChangeKind: TypeAlias = Literal[
    "model",
    "parameter",
    "tool_added",
    "tool_removed",
    "tools_reordered",
    "tool_changed",
    "date",
    "id",
    "number",
    "whitespace",
    "text",
    "media",
    "fields",
    "message_inserted",
    "messages_removed",
]
#: What changed, in words.
CHANGES: Final[dict[ChangeKind, str]] = {
    "model": "another model",
    "parameter": "another value",
    "tool_added": "a tool was added",
    "tool_removed": "a tool was removed",
    "tools_reordered": "the tools are in another order",
    "tool_changed": "the definition of a tool",
    "date": "a date or time",
    "id": "an id",
    "number": "a number",
    "whitespace": "white space",
    "text": "the text",
    "media": "another image, audio, video or file",
    "fields": "other fields than the text",
    "message_inserted": "a message was inserted",
    "messages_removed": "earlier messages were removed",
}
_SECTIONS: Final[dict[Section, str]] = {"model": "the model", "system": "the system prompt"}
_MEDIA: Final = ("image", "audio", "video", "file")
_SHORT: Final = 80


class PromptChange(Struct, kw_only=True):
    """The first difference between a prompt and an earlier prompt."""

    kind: Annotated[ChangeKind, Meta(description="What changed, for programs. More kinds may be added.")]
    what: Annotated[str, Meta(description="What changed, in a few words.")]
    where: Annotated[str, Meta(description="The place in words, such as `the system prompt, character 1,204`.")]
    section: Section
    message: Annotated[int | None, Meta(description="Index of the message in `messages`.")]
    character: Annotated[
        int | None,
        Meta(
            description="Number of the first character that differs, from 1. `null` if the difference is not in a text."
        ),
    ]
    leading: Annotated[str, Meta(description="The text before the difference, which is the same in both requests.")]
    before: Annotated[str, Meta(description="The beginning of what differs, in the earlier request.")]
    after: Annotated[str, Meta(description="The beginning of what differs, in this request.")]
    trailing: Annotated[str, Meta(description="The text after the difference, which is the same in both requests.")]


def change_of(before: Prompt, after: Prompt, equal: int) -> PromptChange:
    """Describe the first difference. ``equal`` is the number of equal segments before it; both prompts have more."""
    one, two = before.segments[equal], after.segments[equal]
    earlier, later = before.segments[equal:], after.segments[equal:]
    if "tools" in (one.section, two.section):
        return _of_tools(one, two, earlier, later)
    if one.section == two.section == "messages" and (moved := _moved(one, two, earlier, later)) is not None:
        return _change(moved, two, before=_name(one), after=_name(two))
    if one.kind != two.kind or one.name != two.name or one.kind in _MEDIA:
        kind: ChangeKind = "media" if one.kind in _MEDIA and two.kind in _MEDIA else "text"
        return _change(kind, two, before=_name(one), after=_name(two))
    if two.section == "model":
        return _change("model", two, before=one.text, after=two.text)
    return _of_texts(one, two)


def _of_tools(one: Segment, two: Segment, earlier: Sequence[Segment], later: Sequence[Segment]) -> PromptChange:
    old = [each.name for each in earlier if each.section == "tools"]
    new = [each.name for each in later if each.section == "tools"]
    if sorted(old) == sorted(new) and old != new:
        return _change("tools_reordered", two, before=one.name, after=two.name)
    if two.section == "tools" and two.name not in old:
        return _change("tool_added", two, after=two.name)
    if one.section == "tools" and one.name not in new:
        return _change("tool_removed", one, before=one.name)
    if one.name == two.name and is_same_place(one, two):
        found = _of_texts(one, two)
        found.kind, found.what = "tool_changed", CHANGES["tool_changed"]
        return found
    return _change("tools_reordered", two, before=one.name, after=two.name)


def _moved(one: Segment, two: Segment, earlier: Sequence[Segment], later: Sequence[Segment]) -> ChangeKind | None:
    """Return whether messages were removed or inserted. `None` if neither: the message itself is another one."""
    if any(each.content == two.content for each in earlier):
        return "messages_removed"
    if any(each.content == one.content for each in later):
        return "message_inserted"
    return None


def _of_texts(one: Segment, two: Segment) -> PromptChange:
    is_text = one.text != two.text
    found = difference(one.text, two.text) if is_text else difference(one.extra, two.extra)
    kind: ChangeKind = found.kind if is_text or found.kind in ("date", "id") else "fields"
    if two.section == "parameters":
        kind = "parameter"
    change = _change(kind, two, character=found.at + 1 if is_text and two.section != "parameters" else None)
    change.leading, change.trailing = found.leading, found.trailing
    change.before, change.after = found.before, found.after
    return change


def _change(
    kind: ChangeKind, segment: Segment, *, character: int | None = None, before: str = "", after: str = ""
) -> PromptChange:
    where = _where(segment)
    is_message = segment.section in ("system", "messages")
    return PromptChange(
        kind=kind,
        what=CHANGES[kind],
        where=where if character is None else f"{where}, character {character:,}",
        section=segment.section,
        message=segment.number - 1 if is_message else None,
        character=character,
        leading="",
        before=before[:_SHORT],
        after=after[:_SHORT],
        trailing="",
    )


def _where(segment: Segment) -> str:
    """Return the place of a segment in words, such as ``message 3 (user), part 2``."""
    part = f", part {segment.part}" if segment.part else ""
    if segment.section == "tools":
        return f"tool {segment.number:,}{f' ({segment.name[:_SHORT]})' if segment.name else ''}"
    if segment.section == "parameters":
        return f"the parameter {segment.name}"
    if segment.section == "messages":
        return f"message {segment.number:,}{f' ({segment.name[:_SHORT]})' if segment.name else ''}{part}"
    return f"{_SECTIONS[segment.section]}{part}"


def _name(segment: Segment) -> str:
    """Return the beginning of a segment, or what it has instead of text."""
    if segment.kind in ("image", "audio", "video", "file"):
        return segment.text or describe_media(segment.kind, Media())
    return segment.text
