"""Find the tool calls of a thread, and the requests that bring their results, without reading every body.

Each request of an agent has all messages of its conversation so far, so reading all requests of a session of 1,000
turns would mean reading the first message 1,000 times. Instead, only the last request of each conversation is read. The
keys that link requests prove that it begins with the messages of the earlier requests. An earlier request is read only
if it is not the beginning of a later one, for example because the client has shortened its history.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from relaybook import clock
from relaybook.apis import BY_KIND
from relaybook.log.conversations import Position
from relaybook.log.formats.conversation import Message, Part
from relaybook.log.formats.message_chain import ITEM_REFERENCE, is_from_assistant
from relaybook.log.formats.tool_calls import ToolResult, calls_in, is_client_call, match_results
from relaybook.log.record import MessageChain, Record
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader


class ToolRun(NamedTuple):
    """A tool call that the client ran.

    ``request`` is the request whose response has the call. ``position`` is the index of the call among the tool calls
    of the response. ``result_request`` is the first request with the result, or `None` if no request has one.
    """

    request: Record
    position: int
    call: Part
    result_request: Record | None
    result: ToolResult | None


_NO_CHAIN: Final = MessageChain(0, 0)


class _Bodies:
    """Reads the bodies of requests until a deadline. ``is_complete`` is False if bodies were left out."""

    def __init__(self, reader: Reader, deadline_ns: int) -> None:
        self._reader = reader
        self._deadline_ns = deadline_ns
        self.is_complete = True

    def messages(self, record: Record) -> list[Message] | None:
        """Return the messages of a request. `None` if they are not stored or cannot be read."""
        view = self._view(record)
        try:
            request = None if view is None else view.request()
        except BodyDamaged:
            return None
        # Positions count the messages that are read.
        return None if request is None else request.messages

    def calls(self, record: Record) -> list[Part]:
        """Return the tool calls of the first output of a response."""
        view = self._view(record)
        try:
            response = None if view is None else view.response()
        except BodyDamaged:
            return []
        return calls_in(response.outputs[0].parts) if response is not None and response.outputs else []

    def _view(self, record: Record) -> RequestView | None:
        if record.body_state != "stored" or not BY_KIND[record.kind].is_conversation:
            return None
        if clock.monotonic_ns() > self._deadline_ns:
            self.is_complete = False
            return None
        return RequestView.open(self._reader, record.id)


def tool_runs(
    reader: Reader,
    records: Sequence[Record],
    chains: dict[str, MessageChain],
    positions: dict[str, Position],
    deadline_ns: int,
) -> tuple[list[ToolRun], bool]:
    """Return the tool calls in the responses of the records, in order, and whether all bodies were read in time.

    ``records`` are in the order of recording. ``chains`` has the message chains of all requests that have one.
    """
    finder = _Finder(_Bodies(reader, deadline_ns), records, chains, positions)
    found = [finder.runs_of(record) for record in reversed(records)]
    return [run for runs in reversed(found) for run in runs], finder.bodies.is_complete


class _Finder:
    """Finds the tool calls of requests. The latest request must be asked for first."""

    def __init__(
        self,
        bodies: _Bodies,
        records: Sequence[Record],
        chains: dict[str, MessageChain],
        positions: dict[str, Position],
    ) -> None:
        self.bodies = bodies
        self._chains = chains
        self._positions = positions
        self._followers: dict[str, list[Record]] = {}
        self._repeats: dict[str, Record] = {}
        for record in records:
            position = positions[record.id]
            if position.follows is not None:
                self._followers.setdefault(position.follows, []).append(record)
            if position.repeats is not None:
                self._repeats[position.repeats] = record
        #: For each request, messages that begin with those of the request. `None` if they cannot be read.
        self._histories: dict[str, list[Message] | None] = {}

    def runs_of(self, record: Record) -> list[ToolRun]:
        followers = self._followers.get(record.id, [])
        calls = self._calls_in_history(record, followers)
        if calls is None:
            # The client can use the response of a failed request only if it is in a later request.
            calls = self.bodies.calls(record) if followers or not record.failed else []
        results: list[tuple[Record, ToolResult] | None] = [None] * len(calls)
        for follower in sorted(followers, key=lambda each: each.started_at):
            waiting = [at for at, result in enumerate(results) if result is None]
            if not waiting:
                break
            messages, position = self._history(follower), self._positions[follower.id]
            if messages is not None:
                found = match_results([calls[at] for at in waiting], messages, position.new_from, position.messages)
                for at, result in zip(waiting, found, strict=True):
                    results[at] = None if result is None else (follower, result)
        return [
            ToolRun(record, at, call, *(result or (None, None)))
            for at, (call, result) in enumerate(zip(calls, results, strict=True))
            if result is not None or is_client_call(call)
        ]

    def _history(self, record: Record) -> list[Message] | None:
        """Return messages that begin with those of the request."""
        if record.id not in self._histories:
            repeat = self._repeats.get(record.id)
            known = None if repeat is None else self._histories.get(repeat.id)
            self._histories[record.id] = self.bodies.messages(record) if known is None else known
        return self._histories[record.id]

    def _calls_in_history(self, record: Record, followers: Sequence[Record]) -> list[Part] | None:
        """Return the tool calls of the response as a later request has them, and keep the messages of that request.

        `None` if no later request begins with the messages of this request and its response.
        """
        found: list[Part] | None = None
        for follower in reversed(followers):
            messages = self._history(follower) if self._has_same_messages(record, follower) else None
            response = self._response_in(messages or [], record, follower)
            if response is not None:
                self._histories[record.id] = messages
                found = calls_in(part for message in response for part in message.parts)
                break
        return found

    def _has_same_messages(self, record: Record, follower: Record) -> bool:
        """Return whether the follower begins with all messages of the request and its response."""
        keys = {each.all for each in self._chains.get(record.id, _NO_CHAIN).after}
        new_from = self._positions[follower.id].new_from
        origins = self._chains.get(follower.id, _NO_CHAIN).origins
        return any(origin.new_from == new_from and origin.keys.all in keys for origin in origins)

    def _response_in(self, messages: list[Message], record: Record, follower: Record) -> list[Message] | None:
        """Return the response, if it is where the numbers of messages say it is.

        System messages are not in the keys. So if a client has added one, the response is elsewhere.
        """
        start, end = self._chains[record.id].messages, self._positions[follower.id].new_from
        response = messages[start:end]
        if not 0 < start < end <= len(messages) or is_from_assistant(messages[start - 1]):
            return None
        is_whole = end == len(messages) or not is_from_assistant(messages[end])
        has_parts = all(part.type != ITEM_REFERENCE for message in response for part in message.parts)
        return response if is_whole and has_parts and all(map(is_from_assistant, response)) else None
