"""What an SDK reports about a response: the values that a record of the same response must have."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple


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
