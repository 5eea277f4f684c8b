"""Group requests into conversations, and find continued requests, new messages and repeats.

The following rules apply to a request B and the requests before B:

1. An assistant message in B can be the response to an earlier request. B then continues this request. If B has several
   such messages, the last one counts. The messages of B before the assistant message must equal all messages of the
   earlier request, or end with its last two messages. Two equal messages are enough, because clients may have removed
   the oldest messages. If the assistant message has the ids of the earlier response's tool calls, the last message is
   enough, because clients may have changed the arguments. If it has a long text, the first paragraph of the last
   message is enough. A match of all messages takes precedence. If several requests match, B continues the latest one.
2. Otherwise, if B has the id of a response in ``previous_response_id`` (Responses API), B continues the request that
   received this response. If B has the id of a ``conversation`` (Responses API), B continues the latest request with
   this id.
3. If B has the same messages as a request of the last 15 minutes and none of these ids, B repeats this request. B is
   then a retry, or a variant with a different response. This rule also applies if B continues a request by rule 1.
4. If none of these rules applies, B starts a conversation.

Requests of different sessions never belong to one conversation. So a request with a session continues or repeats only
requests of its session, or requests without a session whose conversation has no other session.
"""

from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from relaybook.log.record import MessageChain, decode_chain
from relaybook.log.store.port import Link

#: Maximum time between a request and its repeat. After this time, a request with the same messages is not considered a
#: retry. OpenAI's SDK retries after a timeout of ten minutes and a pause.
REPEATS_WITHIN_US: Final = 15 * 60 * 1_000_000
Key = TypeVar("Key", int, str)


class Position(NamedTuple):
    """A request's position in a conversation.

    ``conversation`` is the id of the conversation's first request. ``turn`` counts from 1. ``follows`` is the id of the
    request that this request continues, or `None`. ``repeats`` is the id of the request that this request repeats, or
    `None`. ``messages`` is the number of messages in the request. The messages from index ``new_from`` on are new.
    """

    conversation: str
    turn: int
    follows: str | None
    repeats: str | None
    new_from: int
    messages: int


class _Latest(Generic[Key]):
    """The latest request with each key: of all requests, of each session, and of the requests without a session."""

    def __init__(self) -> None:
        self.of_all: dict[Key, Link] = {}
        # This also has the latest request without a session, if a request with a session followed it. So a log without
        # sessions needs only the first dict.
        self._of_session: dict[tuple[Key, str | None], Link] = {}

    def add(self, key: Key, link: Link) -> None:
        if link.session is not None:
            before = self.of_all.get(key)
            if before is not None and before.session is None:
                self._of_session[key, None] = before
            self._of_session[key, link.session] = link
        self.of_all[key] = link

    def of_session(self, key: Key, session: str) -> Link | None:
        """Return the latest request of the session. If there is none, return the latest request without a session."""
        found = self._of_session.get((key, session))
        if found is not None:
            return found
        latest = self.of_all.get(key)
        return latest if latest is None or latest.session is None else self._of_session.get((key, None))


class Conversations:
    """Assigns requests to conversations. Requests must be added in the order in which they were recorded."""

    def __init__(self) -> None:
        self._positions: dict[str, Position] = {}
        #: The session of each conversation that has one.
        self._sessions: dict[str, str] = {}
        self._by_response_key = _Latest[int]()  # the key covers all messages and a response
        self._by_window_key = _Latest[int]()  # the key covers the last two messages and a response
        self._by_loose_key = _Latest[int]()  # the key covers less than these; see message_chain.py
        self._by_completion_id = _Latest[str]()  # the key is the completion id
        self._by_conversation_id = _Latest[str]()  # the key is the id of the provider's conversation
        self._by_messages_key = _Latest[int]()  # the key covers all messages, without a response

    def add(self, link: Link) -> Position:
        """Add the next request, described by its ``Link``, and return the request's position."""
        chain = None if link.chain is None else decode_chain(link.chain)
        position = Position(link.id, 1, None, None, 0, 0) if chain is None else self._position(link, chain)
        self._positions[link.id] = position
        if link.session is not None:
            self._sessions[position.conversation] = link.session
        if link.completion_id is not None:
            self._by_completion_id.add(link.completion_id, link)
        if chain is not None:
            self._remember(chain, link)
        return position

    def _position(self, link: Link, chain: MessageChain) -> Position:
        position = self._continuation(link, chain)
        if (repeated := self._repeated(link, chain)) is not None:
            position = (position or self._positions[repeated])._replace(repeats=repeated, messages=chain.messages)
        return position or Position(link.id, 1, None, None, 0, chain.messages)

    def _repeated(self, link: Link, chain: MessageChain) -> str | None:
        same = self._find(self._by_messages_key, chain.messages_key, link)
        if same is None or not _is_whole(chain) or link.started_at - same.started_at > REPEATS_WITHIN_US:
            return None
        return same.id

    def _continuation(self, link: Link, chain: MessageChain) -> Position | None:
        for origin in chain.origins:
            keys = origin.keys
            continued = (
                self._find(self._by_response_key, keys.all, link)
                or self._find(self._by_window_key, keys.window, link)
                or self._find(self._by_loose_key, keys.loose, link)
            )
            if continued is not None:
                return self._after(continued, origin.new_from, chain)
        continued = self._find(self._by_completion_id, chain.previous or "", link)
        continued = continued or self._find(self._by_conversation_id, chain.conversation or "", link)
        return None if continued is None else self._after(continued, 0, chain)

    def _find(self, latest: _Latest[Key], key: Key, link: Link) -> Link | None:
        """Return the latest request with the key whose conversation ``link`` can belong to."""
        session = link.session
        if session is None:
            return latest.of_all.get(key)
        found = latest.of_session(key, session)
        if found is None or self._sessions.get(self._positions[found.id].conversation, session) != session:
            return None
        return found

    def _after(self, continued: Link, new_from: int, chain: MessageChain) -> Position:
        before = self._positions[continued.id]
        return Position(before.conversation, before.turn + 1, continued.id, None, new_from, chain.messages)

    def _remember(self, chain: MessageChain, link: Link) -> None:
        # A later request with the same messages is not a repeat of this request if this request has only the new
        # messages of a longer conversation.
        if chain.messages_key and _is_whole(chain):
            self._by_messages_key.add(chain.messages_key, link)
        if chain.conversation is not None:
            self._by_conversation_id.add(chain.conversation, link)
        for keys in chain.after:
            self._by_response_key.add(keys.all, link)
            if keys.window:
                self._by_window_key.add(keys.window, link)
            if keys.loose:
                self._by_loose_key.add(keys.loose, link)


def _is_whole(chain: MessageChain) -> bool:
    """Return whether the request has all messages of its conversation. Otherwise the provider adds earlier messages."""
    return chain.previous is None and chain.conversation is None


def positions_of(links: Iterable[Link]) -> dict[str, Position]:
    """Return the ``Position`` of each request by the request's id.

    ``links`` has one ``Link`` per request, in the order in which the requests were recorded.
    """
    conversations = Conversations()
    return {link.id: conversations.add(link) for link in links}
