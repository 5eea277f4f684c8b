"""Random streams of the Responses API, built from the types of OpenAI's SDK."""

from collections.abc import Iterator
from random import Random
from typing import Any

from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_content_part_added_event import Part
from openai.types.responses.response_output_item import ResponseOutputItem
from openai.types.responses.response_output_message import Content
from openai.types.responses.response_usage import ResponseUsage
from tests.conformance.accumulators.chat_streams import arguments
from tests.conformance.accumulators.values import by_type, cut, instance, interleaved, text, value

EVENTS = by_type(ResponseStreamEvent)
ITEMS = by_type(ResponseOutputItem)
PARTS = by_type(Content) | by_type(Part)
#: The events of an item that only tell its progress.
_PROGRESS = {
    "web_search_call": ("in_progress", "searching", "completed"),
    "file_search_call": ("in_progress", "searching", "completed"),
    "code_interpreter_call": ("in_progress", "interpreting", "completed"),
    "image_generation_call": ("in_progress", "generating", "partial_image", "completed"),
    "mcp_call": ("in_progress", "completed", "failed"),
    "mcp_list_tools": ("in_progress", "completed", "failed"),
    "compaction": ("compacting",),
}
#: The field of an item that is generated in parts, and the name of the events with the parts.
_GENERATED = {
    "function_call": ("arguments", "function_call_arguments"),
    "mcp_call": ("arguments", "mcp_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
    "code_interpreter_call": ("code", "code_interpreter_call_code"),
}
#: Events that belong to no item.
_ALONE = (
    "response.audio.delta",
    "response.audio.done",
    "response.audio.transcript.delta",
    "response.audio.transcript.done",
)
ENDS = ("response.completed", "response.incomplete", "response.failed")


def item(random: Random, kind: str, number: int) -> dict[str, Any]:
    """Return a finished output item."""
    fields: dict[str, Any] = {"id": f"{kind}_{number}", "type": kind}
    if "call_id" in ITEMS[kind].model_fields:
        fields["call_id"] = f"call_{number}"
    if "status" in ITEMS[kind].model_fields:
        fields["status"] = "completed"
    if kind == "message":
        fields["content"] = [
            _part(random, random.choice(list(by_type(Content)))) for _ in range(random.randrange(1, 3))
        ]
    elif kind == "reasoning":
        fields["summary"] = [{"type": "summary_text", "text": text(random)} for _ in range(random.randrange(3))]
        fields["content"] = [_part(random, "reasoning_text") for _ in range(random.randrange(2))]
    elif kind in _GENERATED:
        fields[_GENERATED[kind][0]] = arguments(random)
    if "name" in ITEMS[kind].model_fields:
        fields["name"] = random.choice(("get_weather", "f"))
    return instance(random, ITEMS[kind], **fields)


def _part(random: Random, kind: str) -> dict[str, Any]:
    return instance(random, PARTS[kind], type=kind, **{_text_field(kind): text(random)})


def _text_field(kind: str) -> str:
    return "refusal" if kind == "refusal" else "text"


class _Stream:
    """Makes events. Their fields that are not given are random."""

    def __init__(self, random: Random) -> None:
        self.random = random
        #: Whether texts are also sent in parts.
        self.has_deltas = random.random() < 0.8
        #: Whether texts are also sent as a whole at the end of a part.
        self.has_ends = random.random() < 0.8

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        known = EVENTS[kind].model_fields
        given = {name: each for name, each in fields.items() if name in known}
        return instance(self.random, EVENTS[kind], type=kind, **given)

    def generated(self, name: str, field: str, whole: str, where: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a text in parts, and then as a whole."""
        if self.has_deltas:
            for piece in cut(self.random, whole):
                yield self.event(f"response.{name}.delta", delta=piece, **where)
        if self.has_ends or not self.has_deltas:
            yield self.event(f"response.{name}.done", **{field: whole}, **where)

    def item(self, index: int, final: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the events of an item, the first of which begins it."""
        at = {"output_index": index, "item_id": final["id"]}
        return [
            self.event("response.output_item.added", output_index=index, item=_begun(final)),
            *self._summary(final, at),
            *self._content(final, at),
            *self._call(final, at),
            self.event("response.output_item.done", output_index=index, item=final),
        ]

    def _content(self, final: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if final["type"] not in ("message", "reasoning"):
            return
        for number, part in enumerate(final.get("content") or ()):
            where, kind, field = at | {"content_index": number}, part["type"], _text_field(part["type"])
            yield self.event("response.content_part.added", part=part | {field: ""}, **where)
            yield from self.generated(kind, field, part[field], where)
            for annotation in part.get("annotations") or ():
                more = where | {"annotation": annotation, "annotation_index": 0}
                yield self.event("response.output_text.annotation.added", **more)
            yield self.event("response.content_part.done", part=part, **where)

    def _summary(self, final: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for number, part in enumerate(final.get("summary") or ()):
            where = at | {"summary_index": number}
            yield self.event("response.reasoning_summary_part.added", part=part | {"text": ""}, **where)
            yield from self.generated("reasoning_summary_text", "text", part["text"], where)
            yield self.event("response.reasoning_summary_part.done", part=part, **where)

    def _call(self, final: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        kind = final["type"]
        for state in _PROGRESS.get(kind, ()):
            yield self.event(f"response.{kind}.{state}", **at)
        if kind in _GENERATED:
            field, name = _GENERATED[kind]
            more = {"name": final["name"]} if kind == "function_call" else {}
            yield from self.generated(name, field, final[field], at | more)
        if kind == "shell_call":
            for number, command in enumerate(final["action"]["commands"]):
                where = at | {"command_index": number}
                yield self.event("response.shell_call_command.added", command="", **where)
                for piece in cut(self.random, command):
                    yield self.event("response.shell_call_command.delta", delta=piece, **where)
                yield self.event("response.shell_call_command.done", command=command, **where)
        if kind == "shell_call_output":
            for number, output in enumerate(final["output"]):
                where = at | {"command_index": number}
                yield self.event(
                    "response.shell_call_output_content.delta", delta={"stdout": output["stdout"]}, **where
                )
                yield self.event("response.shell_call_output_content.done", output=[output], **where)


def _begun(final: dict[str, Any]) -> dict[str, Any]:
    """Return an item as it is when it begins."""
    begun = dict(final)
    if final["type"] in ("message", "reasoning"):
        begun |= {"content": []} | ({"summary": []} if final["type"] == "reasoning" else {})
    elif final["type"] in _GENERATED:
        begun[_GENERATED[final["type"]][0]] = ""
    return begun | ({"status": "in_progress"} if "status" in final else {})


def response_stream(
    random: Random, kinds: list[str], end: str = "response.completed", *, has_audio: bool = True
) -> list[dict[str, Any]]:
    """Return the events of a response with an item of each of the ``kinds``. Items begin in their order."""
    stream = _Stream(random)
    output = [item(random, kind, number) for number, kind in enumerate(kinds)]
    head: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5",
        "created_at": 9,
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    events = [stream.event(f"response.{name}", response=head) for name in ("created", "queued", "in_progress")]
    begun: list[list[dict[str, Any]]] = []
    for index, final in enumerate(output):
        first, *rest = stream.item(index, final)
        # Earlier items continue between the beginnings of later ones.
        for sequence in begun:
            for _ in range(random.randrange(1 + len(sequence))):
                events.append(sequence.pop(0))
        events.append(first)
        begun.append(rest)
    alone = [stream.event(kind) for kind in _ALONE if has_audio and random.random() < 0.3]
    events += interleaved(random, *begun, alone)
    status = end.removeprefix("response.")
    final_response = head | {"status": status, "output": output, "usage": instance(random, ResponseUsage)}
    final_response["service_tier"] = value(random, Response.model_fields["service_tier"].annotation)
    if status == "failed":
        final_response["error"] = {"code": "server_error", "message": "The model failed."}
    if status == "incomplete":
        final_response["incomplete_details"] = {"reason": "max_output_tokens"}
    events.append(stream.event(end, response=final_response))
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return events


def all_events(random: Random) -> set[str]:
    """Return the types of all events that streams can have."""
    kinds = list(ITEMS)
    found = {event["type"] for end in ENDS for _ in range(20) for event in response_stream(random, kinds, end)}
    return found | {"error"}
