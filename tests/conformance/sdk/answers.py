"""What an SDK reports about a response: the values that a record of the same response must have."""

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.support import parts


class Call(NamedTuple):
    """A tool call. ``id`` is `None` if the SDK reports none."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


@dataclass
class Answer:
    """A response, whole or assembled from the chunks of a stream. `None` means that the SDK reports no value."""

    model: str | None = None
    id: str | None = None
    text: str = ""
    thoughts: str = ""
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    input_tokens: int | None = None
    #: With the tokens of thoughts.
    output_tokens: int | None = None
    cached_tokens: int | None = None

    def without_ids(self) -> "Answer":
        """Return the values that are the same in each response to the same request."""
        return replace(self, id=None, calls=[call._replace(id=None) for call in self.calls])


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run an asynchronous client."""
    return asyncio.run(coroutine)


def assert_recorded(record: dict[str, Any], answer: Answer) -> None:
    """Assert that a record has what the SDK reported. Values that the SDK does not report are not compared."""
    (output,) = record["response"]["outputs"]
    assert parts.text_of(output) == answer.text
    assert parts.text_of(output, "reasoning") == answer.thoughts
    calls = parts.parts_of(output, "tool_call")
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
        (call.name, call.arguments) for call in answer.calls
    ]
    reported = {
        "response_model": answer.model,
        "completion_id": answer.id,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cached_tokens": answer.cached_tokens,
    }
    told = {name: value for name, value in reported.items() if value is not None}
    assert {name: record[name] for name in told} == told
    ids = [call.id for call in answer.calls if call.id is not None]
    assert [call["id"] for call in calls][: len(ids)] == ids
