"""Cuts requests into conversations: which goes on from which, what is new in it, which ask the same again. Pure.

The rules, for a request B and the earlier ones: the last answer in B's messages that is known tells what it goes on
from, known by all messages before it, else by the last two of them (the oldest were trimmed); of several such requests
the latest. Else it is the response that B names. One with the very messages of another asks the same again: a retry, or
a variant with another answer. Anything else begins a conversation.
"""

from collections.abc import Iterable
from typing import NamedTuple

from relaybook.log.formats import MessageChain, decode_chain
from relaybook.log.store.port import Step


class Place(NamedTuple):
    """A request's place. ``conversation`` is the id of its first request; ``turn`` counts from 1.

    ``follows`` and ``repeats`` are ids. Messages from the index ``new_from`` on are new; there are ``messages`` in all.
    """

    conversation: str
    turn: int
    follows: str | None
    repeats: str | None
    new_from: int
    messages: int


class Conversations:
    """Places of requests, which are given in the order in which they were recorded."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        #: The latest request by messages and answer, by the last of them and the answer, by response, by messages.
        self._by_answer: dict[int, str] = {}
        self._by_window: dict[int, str] = {}
        self._by_response: dict[str, str] = {}
        self._by_messages: dict[int, str] = {}

    def place(self, step: Step) -> Place:
        """The place of the next request."""
        turn = None if step.turn is None else decode_chain(step.turn)
        place = Place(step.id, 1, None, None, 0, 0) if turn is None else self._place(step.id, turn)
        self._places[step.id] = place
        if step.completion_id is not None:
            self._by_response[step.completion_id] = step.id
        if turn is not None:
            self._remember(turn, step.id)
        return place

    def _place(self, record_id: str, turn: MessageChain) -> Place:
        place = self._next(turn)
        if (known := self._by_messages.get(turn.asked)) is not None and turn.previous is None:
            place = (place or self._places[known])._replace(repeats=known, messages=turn.messages)
        return place or Place(record_id, 1, None, None, 0, turn.messages)

    def _next(self, turn: MessageChain) -> Place | None:
        for origin in turn.origins:
            known = self._by_answer.get(origin.key) or self._by_window.get(origin.window)
            if known is not None:
                return self._after(known, origin.new_from, turn)
        if turn.previous is not None and (known := self._by_response.get(turn.previous)) is not None:
            return self._after(known, 0, turn)
        return None

    def _after(self, known: str, new_from: int, turn: MessageChain) -> Place:
        before = self._places[known]
        return Place(before.conversation, before.turn + 1, known, None, new_from, turn.messages)

    def _remember(self, turn: MessageChain, record_id: str) -> None:
        self._by_messages[turn.asked] = record_id
        for key, window in turn.after:
            self._by_answer[key] = record_id
            if window:
                self._by_window[window] = record_id


def places(steps: Iterable[Step]) -> dict[str, Place]:
    """By id; ``steps`` in the order in which they were recorded."""
    conversations = Conversations()
    return {step.id: conversations.place(step) for step in steps}
