"""Arrange a request in the order in which providers cache it, and compare it with an earlier request.

A provider caches the beginning of a prompt, so a request costs less only up to the first difference from an earlier
request. The order is: the model, the tools, the system prompt, the other messages. OpenAI
(https://developers.openai.com/api/docs/guides/prompt-caching) puts the schema of the output before the system prompt.
Anthropic (https://platform.claude.com/docs/en/build-with-claude/prompt-caching) caches up to blocks with
``cache_control``, and some parameters reset only the cache of the messages. Google does not document an order.

Equal JSON is equal, whatever its white space. The order of its fields matters.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from relaybook.apis import Kind
from relaybook.log.formats.conversation import Message, Part, PartKind, Request
from relaybook.log.formats.lenient import as_json, is_object, text_or_none
from relaybook.log.formats.text_difference import common_prefix, common_suffix

Section: TypeAlias = Literal["model", "tools", "parameters", "system", "messages"]
#: Whose rules apply. Gateways pass these rules on.
Vendor: TypeAlias = Literal["openai", "anthropic", "google", "other"]

#: An image, audio, video or file counts as so many characters, because the size of its data says nothing about tokens.
MEDIA_CHARACTERS: Final = 4000
_MARK: Final = "cache_control"
_HOUR: Final = 3600
_FIVE_MINUTES: Final = 300
_SYSTEM: Final = frozenset({"system", "developer"})
_OPENAI_MODELS: Final = ("gpt-", "chatgpt-", "codex", "computer-use", "o1", "o3", "o4")
#: Parameters that are part of the prompt. A change resets the cache from their place on.
_RESETTING: Final[dict[Vendor, tuple[str, ...]]] = {
    "openai": ("response_format", "text"),
    "anthropic": ("tool_choice", "thinking", "reasoning", "output_config", "speed"),
    "google": ("cachedContent", "cached_content"),
    "other": ("response_format",),
}


class Segment(NamedTuple):
    """A piece of a prompt: the model, a tool, a parameter, or a part of a message.

    ``number`` is that of the tool or message, from 1, and ``part`` the number of the part in a message with several
    parts; both are 0 for everything else. ``name`` is that of the tool or parameter, or the role of the message.
    ``text`` has the characters of the prompt, and ``extra`` has what is not text, such as ids and media. ``weight`` is
    the number of characters for estimates. ``lifetime`` is set at a breakpoint of the cache: its seconds.
    """

    section: Section
    number: int
    part: int
    name: str
    kind: PartKind | None
    text: str
    extra: str
    weight: int
    lifetime: int | None

    @property
    def content(self) -> tuple[str, str, str, str]:
        """What the provider compares."""
        return self.section, self.name, self.text, self.extra

    @property
    def characters(self) -> int:
        """The number of characters of the prompt. The model and the parameters have none."""
        return 0 if self.section in ("model", "parameters") else len(self.text)


class Prompt(NamedTuple):
    """A request in the order in which providers cache it.

    ``total_weight`` includes messages that are left out of ``segments``, because there are too many of them.
    ``hints`` has other parameters on which the cache may depend. ``marked`` is the number of segments up to the last
    breakpoint; it is that of all segments if the provider needs no breakpoints. ``is_partial`` tells whether the
    provider adds the earlier messages, because the request has only their id.
    """

    vendor: Vendor
    segments: list[Segment]
    total_weight: int
    hints: dict[str, Any]
    marked: int
    is_partial: bool

    @property
    def lifetime_seconds(self) -> int | None:
        """The longest lifetime of a breakpoint. `None` if there are none."""
        return max((each.lifetime for each in self.segments if each.lifetime is not None), default=None)


class PromptComparison(NamedTuple):
    """What two prompts have in common. Weights are those of the later prompt.

    ``equal`` is the number of equal segments from the start, and ``equal_characters`` the number of equal characters,
    also those of the first segment that differs. ``sent_again`` also has what is equal after the first difference.
    ``cacheable`` is the part of it that lies before the breakpoints of both prompts. ``is_broken`` tells whether the
    later prompt differs from the earlier one before one of them ends.
    """

    equal: int
    equal_characters: int
    equal_weight: int
    sent_again: int
    cacheable: int
    is_broken: bool


_HINTS: Final = (
    *("tool_choice", "reasoning", "reasoning_effort", "verbosity", "service_tier", "thinking", "prompt_cache_key"),
    *("prompt_cache_retention", "parallel_tool_calls"),
)


def vendor_of(kind: Kind, model: str | None) -> Vendor:
    """Return whose rules apply, from the API and the name of the model, also behind a gateway."""
    name = (model or "").lower().rpartition("/")[2]
    if kind == "message" or "claude" in name:
        return "anthropic"
    if kind in ("generate", "interaction") or name.startswith("gemini"):
        return "google"
    return "openai" if name.startswith(_OPENAI_MODELS) else "other"


def prompt_of(request: Request, kind: Kind) -> Prompt:
    """Return the prompt of a request."""
    parameters = request.parameters
    vendor = vendor_of(kind, request.model)
    resetting = [_segment("parameters", name, _json(parameters.get(name)), weight=0) for name in _RESETTING[vendor]]
    system, messages, rest = _messages(request.messages)
    before, after = ([], resetting) if vendor == "anthropic" else (resetting, [])
    model = _segment("model", "model", request.model or "", weight=0)
    segments = [model, *_tools(parameters), *before, *system, *after, *messages]
    if is_object(mark := parameters.get(_MARK)):  # the last block is the breakpoint
        segments[-1] = segments[-1]._replace(lifetime=_lifetime(mark))
    marked = len(segments)
    if vendor == "anthropic":
        marked = max((at for at, each in enumerate(segments, 1) if each.lifetime is not None), default=0)
    hints = {name: parameters[name] for name in _HINTS if parameters.get(name) is not None}
    total = sum(each.weight for each in segments) + rest
    is_partial = request.previous is not None or request.conversation is not None
    return Prompt(vendor, segments, total, hints, marked, is_partial)


def compare(before: Prompt, after: Prompt) -> PromptComparison:
    """Compare a prompt with an earlier one. The messages of a partial prompt are all new, so they are not compared."""
    if after.is_partial:
        before, after = _without_messages(before), _without_messages(after)
    pairs = zip(before.segments, after.segments, strict=False)
    equal = next(
        (at for at, (one, two) in enumerate(pairs) if one.content != two.content),
        min(len(before.segments), len(after.segments)),
    )
    start = after.segments[:equal]
    characters = sum(each.characters for each in start)
    weight = sum(each.weight for each in start)
    limit = min(before.marked, after.marked)
    cacheable = sum(each.weight for each in start[:limit])
    is_broken = equal < min(len(before.segments), len(after.segments))
    if not is_broken:
        return PromptComparison(equal, characters, weight, weight, cacheable, is_broken=False)
    left: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for at, segment in enumerate(before.segments[equal:], equal):
        left[segment.content].append(at)
    one, two = before.segments[equal], after.segments[equal]
    head = tail = 0
    if is_same_place(one, two) and two.content not in left and not _is_in(one, after.segments[equal:]):
        head = common_prefix(one.text, two.text)
        tail = common_suffix(one.text, two.text, head)
    sent_again = weight + head + tail
    cacheable += head + tail if equal < limit else 0
    for at, segment in enumerate(after.segments[equal:], equal):
        if found := left.get(segment.content):
            sent_again += segment.weight
            if found.popleft() < before.marked and at < after.marked:
                cacheable += segment.weight
    return PromptComparison(equal, characters + head, weight + head, sent_again, cacheable, is_broken=True)


def is_same_place(one: Segment, two: Segment) -> bool:
    """Return whether two different segments are two versions of one."""
    return (one.section, one.name, one.kind) == (two.section, two.name, two.kind)


def _without_messages(prompt: Prompt) -> Prompt:
    return prompt._replace(segments=[each for each in prompt.segments if each.section != "messages"])


def _is_in(segment: Segment, segments: Sequence[Segment]) -> bool:
    return any(each.content == segment.content for each in segments)


def _segment(section: Section, name: str, text: str, *, number: int = 0, weight: int | None = None) -> Segment:
    return Segment(section, number, 0, name, None, text, "", len(text) if weight is None else weight, None)


def _json(value: object) -> str:
    return "" if value is None else as_json(value)


def _tools(parameters: dict[str, Any]) -> Iterator[Segment]:
    number = 0
    for name in ("tools", "functions"):
        items = parameters.get(name)
        for item in items if isinstance(items, list) else ():
            for tool in _declarations(item):
                number += 1
                mark = tool.get(_MARK) if is_object(tool) else None
                fields = {key: value for key, value in tool.items() if key != _MARK} if is_object(tool) else tool
                segment = _segment("tools", _tool_name(tool), as_json(fields), number=number)
                yield segment._replace(lifetime=_lifetime(mark)) if is_object(mark) else segment


def _declarations(item: object) -> list[Any]:
    """Return the tools of an item. Google lists the declarations of functions in one item."""
    if is_object(item):
        for name in ("functionDeclarations", "function_declarations"):
            if isinstance(declared := item.get(name), list):
                return declared
    return [item]


def _tool_name(tool: object) -> str:
    if not is_object(tool):
        return ""
    function = tool.get("function")
    inner = function.get("name") if is_object(function) else None
    return next((name for name in (tool.get("name"), inner, tool.get("type")) if isinstance(name, str)), "")


def _messages(messages: Sequence[Message]) -> tuple[list[Segment], list[Segment], int]:
    """Return the segments of the system prompt and of all other messages, and the weight of what is left out."""
    system: list[Segment] = []
    others: list[Segment] = []
    rest = 0
    is_cut = False
    for number, message in enumerate(messages, 1):
        is_cut = is_cut or any(part.type == "omitted" for part in message.parts)
        is_system = message.role in _SYSTEM and not others
        segments = _of_message(message, number, "system" if is_system else "messages")
        if is_cut:
            rest += sum(each.weight for each in segments)
        elif is_system:
            system += segments
        else:
            others += segments
    return system, others, rest


def _of_message(message: Message, number: int, section: Section) -> list[Segment]:
    parts = message.parts or [Part(kind="text")]
    mark = message.other.get(_MARK)
    fields = {name: value for name, value in message.other.items() if name != _MARK}
    if message.name is not None:
        fields["name"] = message.name
    segments = []
    for at, part in enumerate(parts, 1):
        is_last = at == len(parts)
        text, extra, weight = _content(part)
        own = part.other.get(_MARK)
        lifetime = _lifetime(own) if is_object(own) else _lifetime(mark) if is_last and is_object(mark) else None
        if is_last and fields:
            extra += as_json(fields)
        place = at if len(parts) > 1 else 0
        name = message.role or part.type or ""
        segments.append(Segment(section, number, place, name, part.kind, text, extra, weight, lifetime))
    return segments


def _content(part: Part) -> tuple[str, str, int]:
    """Return the text of a part, everything else in it as text, and its weight."""
    other = {name: value for name, value in part.other.items() if name != _MARK}
    extra = "".join(filter(None, (part.id, part.type, as_json(other) if other else "")))
    if part.media is not None:
        data = "".join(filter(None, (part.media.url, part.media.name, part.media.type)))
        return part.text or "", f"{part.kind}{data}{extra}", MEDIA_CHARACTERS + len(part.text or "")
    text = part.text or ""
    if part.kind == "tool_call":
        text = f"{part.name or ''}({part.arguments or ''})"
    return text, f"{part.kind}{extra}", len(text) + (len(extra) if not text else 0)


def _lifetime(mark: dict[str, Any]) -> int:
    return _HOUR if text_or_none(mark.get("ttl")) == "1h" else _FIVE_MINUTES
