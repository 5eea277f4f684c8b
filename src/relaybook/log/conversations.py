"""Group requests into conversations, and find continued requests, new messages and repeats.

The following rules apply to a request B and the requests before B:

1. B continues the request whose response is the last known assistant message among B's messages. All messages before
   that assistant message must match, or at least the last two of these messages, because clients trim the oldest
   messages. If several requests match, B continues the latest request.
2. Otherwise B continues the response that B names (Responses API).
3. If a request has the same messages as an earlier request, it repeats the earlier request, as a retry or as a variant
   with a different response.
4. Any other request starts a conversation.

Pure, without I/O.
"""

from collections.abc import Iterable
from typing import NamedTuple

from relaybook.log.formats import MessageChain, decode_chain
from relaybook.log.store.port import Link


class Position(NamedTuple):
    """A request's position in a conversation.

    ``conversation`` is the id of the conversation's first request. ``turn`` counts from 1. ``follows`` is the id of the
    request that it continues, and ``repeats`` the id of the request that it repeats. An id is `None` if there is no
    such request. ``messages`` is the number of messages. The messages from index ``new_from`` on are new.
    """

    conversation: str
    turn: int
    follows: str | None
    repeats: str | None
    new_from: int
    messages: int


class Conversations:
    """Assigns requests to conversations. Requests must be added in the order in which they were recorded."""

    def __init__(self) -> None:
        self._positions: dict[str, Position] = {}
        # Each dict maps a key to the id of the latest request with this key. The first key covers all messages and a
        # response, the second key covers the last two messages and a response. The third key is the completion id, and
        # the fourth key covers all messages without a response.
        self._by_response_key: dict[int, str] = {}
        self._by_window_key: dict[int, str] = {}
        self._by_completion_id: dict[str, str] = {}
        self._by_messages_key: dict[int, str] = {}

    def add(self, link: Link) -> Position:
        """Add the next request and return its position."""
        chain = None if link.chain is None else decode_chain(link.chain)
        position = Position(link.id, 1, None, None, 0, 0) if chain is None else self._position(link.id, chain)
        self._positions[link.id] = position
        if link.completion_id is not None:
            self._by_completion_id[link.completion_id] = link.id
        if chain is not None:
            self._remember(chain, link.id)
        return position

    def _position(self, record_id: str, chain: MessageChain) -> Position:
        position = self._continuation(chain)
        if (repeated := self._by_messages_key.get(chain.messages_key)) is not None and chain.previous is None:
            position = (position or self._positions[repeated])._replace(repeats=repeated, messages=chain.messages)
        return position or Position(record_id, 1, None, None, 0, chain.messages)

    def _continuation(self, chain: MessageChain) -> Position | None:
        for origin in chain.origins:
            continued = self._by_response_key.get(origin.key) or self._by_window_key.get(origin.window)
            if continued is not None:
                return self._after(continued, origin.new_from, chain)
        if chain.previous is not None and (continued := self._by_completion_id.get(chain.previous)) is not None:
            return self._after(continued, 0, chain)
        return None

    def _after(self, continued: str, new_from: int, chain: MessageChain) -> Position:
        before = self._positions[continued]
        return Position(before.conversation, before.turn + 1, continued, None, new_from, chain.messages)

    def _remember(self, chain: MessageChain, record_id: str) -> None:
        self._by_messages_key[chain.messages_key] = record_id
        for key, window in chain.after:
            self._by_response_key[key] = record_id
            if window:
                self._by_window_key[window] = record_id


def positions_of(links: Iterable[Link]) -> dict[str, Position]:
    """Return the positions of requests by id. ``links`` must be in the order in which the requests were recorded."""
    conversations = Conversations()
    return {link.id: conversations.add(link) for link in links}
