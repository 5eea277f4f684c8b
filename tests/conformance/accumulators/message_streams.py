"""Random streams of Anthropic's Messages API, built from the types of Anthropic's SDK: the stable and the beta ones."""

import json
from random import Random
from typing import Any, NamedTuple

from anthropic.types import RawContentBlockDelta, RawContentBlockStartEvent, RawMessageStreamEvent
from anthropic.types.beta import BetaRawContentBlockDelta, BetaRawContentBlockStartEvent, BetaRawMessageStreamEvent
from pydantic import BaseModel
from tests.conformance.accumulators.values import by_type, cut, instance, interleaved, json_object, text, value


class Api(NamedTuple):
    """The types of the stable or of the beta API, by the value of ``type``."""

    events: dict[str, type[BaseModel]]
    blocks: dict[str, type[BaseModel]]
    deltas: dict[str, type[BaseModel]]


STABLE = Api(
    by_type(RawMessageStreamEvent),
    by_type(RawContentBlockStartEvent.model_fields["content_block"].annotation),
    by_type(RawContentBlockDelta),
)
BETA = Api(
    by_type(BetaRawMessageStreamEvent),
    by_type(BetaRawContentBlockStartEvent.model_fields["content_block"].annotation),
    by_type(BetaRawContentBlockDelta),
)


def block_events(random: Random, api: Api, index: int, kind: str) -> list[dict[str, Any]]:
    """Return the events of a block of a type, the first of which begins the block."""
    deltas: list[dict[str, Any]] = []
    fields: dict[str, Any] = {"type": kind}

    def add(delta: str, **values: Any) -> None:
        deltas.append(instance(random, api.deltas[delta], type=delta, **values))

    if kind == "text":
        fields |= {"text": random.choice(("", "", "Begun. ")), "citations": random.choice((None, []))}
        for piece in cut(random, text(random)):
            add("text_delta", text=piece)
        for _ in range(random.randrange(3)):
            deltas.insert(random.randrange(len(deltas) + 1), instance(random, api.deltas["citations_delta"]))
    elif kind == "thinking":
        fields |= {"thinking": random.choice(("", "", "Begun. ")), "signature": ""}
        for piece in cut(random, text(random)):
            add("thinking_delta", thinking=piece)
        add("signature_delta", signature="EqQB")
    elif kind.endswith("tool_use"):
        fields |= {"id": f"toolu_{index}"}
        if kind != "server_tool_use":
            fields["name"] = random.choice(("get_weather", "f"))
        if random.random() < 0.8:
            fields["input"] = {}
            arguments = json.dumps(json_object(random), ensure_ascii=random.random() < 0.5)
            for piece in ["", *cut(random, arguments)]:
                add("input_json_delta", partial_json=piece)
        else:
            fields["input"] = json_object(random)
    elif kind == "compaction":
        fields |= {"content": None}
        add("compaction_delta", content=text(random))
    elif kind == "fallback":
        fields |= {"from": {"model": "claude-x"}, "to": {"model": random.choice(("claude-y", "claude-z"))}}
    block = instance(random, api.blocks[kind], **fields)
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def cumulated(usage: Any) -> Any:
    """Return a usage whose counts are higher than those at the start of the stream, because counts are cumulative."""
    if isinstance(usage, dict):
        return {name: cumulated(each) for name, each in usage.items()}
    return usage + 10_000 if type(usage) is int else usage


def message_stream(random: Random, api: Api, kinds: list[str]) -> list[dict[str, Any]]:
    """Return the events of a message with a block of each of the ``kinds``. Blocks begin in their order."""
    start = api.events["message_start"].model_fields["message"].annotation
    assert start is not None
    message = instance(random, start, id="msg_1", type="message", role="assistant", model="claude-x", content=[])
    message |= {"stop_reason": None, "stop_sequence": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    begun: list[list[dict[str, Any]]] = []
    for index, kind in enumerate(kinds):
        first, *rest = block_events(random, api, index, kind)
        for sequence in begun:
            for _ in range(random.randrange(1 + len(sequence))):
                events.append(sequence.pop(0))
        events.append(first)
        begun.append(rest)
    events += interleaved(random, *begun)
    end = api.events["message_delta"]
    usage, delta = (end.model_fields[name].annotation for name in ("usage", "delta"))
    assert usage is not None
    assert delta is not None
    reason = value(random, delta.model_fields["stop_reason"].annotation) or "end_turn"
    total = cumulated(instance(random, usage))
    events.append(instance(random, end, delta=instance(random, delta, stop_reason=reason), usage=total))
    events.append({"type": "message_stop"})
    return events
