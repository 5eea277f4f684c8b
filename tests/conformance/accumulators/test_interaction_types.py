"""Every delta and step that google-genai declares for interactions is read, and none of its texts is lost."""

import json
from random import Random
from typing import Any

import msgspec
import pytest
from google.genai._gaos.types.interactions import Step, StepDeltaData
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.accumulators.test_request_types import json_or_none, texts
from tests.conformance.accumulators.values import members, type_of, value

from relaybook.log.formats import read_response

SEEDS = st.integers(0, 2**32 - 1).map(Random)
STEPS = {type_of(model): model for model in members(Step) if not model.__name__.startswith("Unknown")}
DELTAS = {type_of(model): model for model in members(StepDeltaData) if not model.__name__.startswith("Unknown")}
#: The types of steps that deltas of another type add to. All other deltas add to the step of their own type.
STEP_OF = {
    **dict.fromkeys(("text", "image", "audio", "video", "document", "text_annotation_delta"), "model_output"),
    **dict.fromkeys(("thought_summary", "thought_signature"), "thought"),
    "arguments_delta": "function_call",
    "function_result": "function_result",
}


def events(*values: dict[str, Any]) -> bytes:
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (each["event_type"].encode(), json.dumps(each).encode()) for each in values
    )


def lost(sent: Any, data: bytes) -> list[str]:
    """Return the texts of a value that are not in the response."""
    reading = read_response(data, "interaction", is_event_stream=True, complete=True)
    assert (reading.is_known, reading.response.ending, reading.response.error) == (True, "done", None)
    kept = list(texts(msgspec.to_builtins(reading.response), omitted=()))
    kept += [text for each in kept if each[:1] in ("{", "[") for text in texts(json_or_none(each))]
    return [text for text in texts(sent) if text and not any(text in each for each in kept)]


COMPLETED = {"event_type": "interaction.completed", "interaction": {"id": "v1_x", "status": "completed"}}


@pytest.mark.parametrize("kind", DELTAS)
@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_every_delta_is_read(kind: str, random: Random) -> None:
    step = {"type": STEP_OF.get(kind, kind), "id": "s1", "name": "f", "content": [{"type": "text", "text": ""}]}
    step = {name: each for name, each in step.items() if name != "content" or step["type"] == "model_output"}
    delta = value(random, DELTAS[kind])
    start = {"event_type": "step.start", "index": 0, "step": step}
    assert lost(delta, events(start, {"event_type": "step.delta", "index": 0, "delta": delta}, COMPLETED)) == []


@pytest.mark.parametrize("kind", STEPS)
@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_every_step_is_read(kind: str, random: Random) -> None:
    step = value(random, STEPS[kind])
    assert lost(step, events({"event_type": "step.start", "index": 0, "step": step}, COMPLETED)) == []
