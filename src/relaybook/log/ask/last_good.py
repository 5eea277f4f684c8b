"""Find the last successful request that is like a given request, to see what has changed since then.

A request is successful if it has not failed, its response is complete and was not cut off by a limit or a filter, and
it has no negative score. Two requests are alike if they have the same namespace and path, and the same prompt: equal
messages, an earlier turn of the same conversation, or the same beginning of the prompt. A later request is returned
only if no earlier one is alike, or if only the later one has equal messages. The text index and the message chains find
such requests, so that requests need no additional data in the store.
"""

from collections.abc import Iterator
from itertools import product, takewhile
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.log.ask import detail
from relaybook.log.ask.fields import Row
from relaybook.log.finish_reasons import FINISH_REASONS
from relaybook.log.formats.conversation import Message, Request
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.query.filters import WORDS, Cursor, Filter, Term
from relaybook.log.query.words import contains, words_of
from relaybook.log.record import MessageChain, Record, decode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.row import to_json
from relaybook.log.search_text import MAX_CHARACTERS
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader

Relation = Literal["same_messages", "same_conversation", "same_prompt", "same_model", "same_namespace"]
#: Number of the latest successful requests whose message chains are compared.
_LINKS: Final = 200
#: Number of requests of each search by words that are compared. Larger bodies are not read.
_CANDIDATES: Final = 5
_MAX_BYTES: Final = 1 << 20
#: All searches together stop after this time.
_SEARCH_NS: Final = 5 * clock.NANOSECONDS
#: Number of words by which two prompts are compared, and the number of characters of a prompt in which they are.
_FEW_WORDS: Final = 4
_MAX_WORDS: Final = 10
_BEGINNING: Final = 2_000
_SYSTEM: Final = ("system", "developer")
_CUT_OFF: Final = tuple(reason for reason, finish in FINISH_REASONS.items() if finish != "tool_calls")


class LastGood(Struct, kw_only=True):
    """The last successful request that is like a given request, or else the nearest successful request."""

    request: Annotated[Row | None, Meta(description="`null` if the namespace has no other successful request.")]
    is_alike: Annotated[
        bool,
        Meta(
            description="`true` if the request has the same namespace, path and prompt. `false` if it is only the "
            "nearest request."
        ),
    ]
    relation: Annotated[
        Relation | None,
        Meta(
            description="`same_messages`: the messages are equal, except for system messages. `same_conversation`: an "
            "earlier turn. `same_prompt`: the prompts begin alike. `same_model`: only namespace, path and model are "
            "the same. `same_namespace`: only the namespace is the same."
        ),
    ]
    is_later: Annotated[bool, Meta(description="`true` if the request was recorded after the given request.")]
    complete: Annotated[bool, Meta(description="`false` if a search was stopped at its deadline.")]
    message: Annotated[
        str,
        Meta(
            description="What was found, in one or two sentences. `A` is the successful request and `B` the given one."
        ),
    ]


#: What is said about each relation.
_MESSAGES: Final[dict[Relation, str]] = {
    "same_messages": "with the same messages",
    "same_conversation": "in the same conversation",
    "same_prompt": "and its {start} starts the same",
    "same_model": "with the same namespace, path and model",
    "same_namespace": "with the same namespace",
}
_NEAREST: Final[tuple[Relation, ...]] = ("same_model", "same_namespace")


class _Prompt(NamedTuple):
    """What is compared of a request's prompt.

    ``beginning`` is the beginning of the system prompt, or of the first message if there is no system prompt.
    ``question`` is the beginning of the last message. ``chain`` is `None` if the request is not a conversation.
    """

    has_system: bool
    beginning: str
    question: str
    chain: MessageChain | None


def last_good(reader: Reader, any_id: str, deadline_ns: int) -> LastGood:
    """Return the last successful request that is like the request with an id. Raises RequestNotFound."""
    view = detail.view(reader, any_id)[0]
    search = _Search(reader, view.record, min(deadline_ns, clock.monotonic_ns() + _SEARCH_NS))
    prompt = _prompt_of(view)
    for relation, record, is_later in () if prompt is None else search.alike(prompt):
        return _answer(search, record, relation, prompt, is_later=is_later)
    for relation, is_later in product(_NEAREST, search.directions):
        for record in search.nearest(relation, is_later=is_later):
            return _answer(search, record, relation, prompt, is_later=is_later)
    return _answer(search, None, None, prompt, is_later=False)


class _Search:
    """Searches for successful requests before or after a request. ``complete`` is False if the deadline ended a search.

    ``directions`` has the values of ``is_later`` to search with.
    """

    def __init__(self, reader: Reader, record: Record, deadline_ns: int) -> None:
        self.complete = True
        self.directions = (False,) if record.seq is None else (False, True)  # no finished request follows a running one
        self._reader = reader
        self._record = record
        self._deadline_ns = deadline_ns
        self._namespace = (
            Term("namespace", (record.namespace,)),
            Term("failed", ("false",)),
            Term("outcome", ("complete",)),
            Term("score", ("<0",), negated=True),
            Term("finish_reason", _CUT_OFF, negated=True),
        )
        self._path = (*self._namespace, Term("path", (record.path,)))

    def alike(self, prompt: _Prompt) -> Iterator[tuple[Relation, Record, bool]]:
        """Yield successful requests with the same prompt, and whether they are later, the most similar first."""
        if prompt.chain is not None:
            for relation, record_id in self._by_chain(prompt, prompt.chain):
                if (found := self._reader.get(record_id)) is not None:
                    yield relation, found.record, False
            if True in self.directions and (terms := _words(prompt.beginning, prompt.question)):
                for record in self._page((*self._path, *terms), is_later=True):
                    other = self._read(record)
                    if other is not None and _have_equal_messages(prompt, other):
                        yield "same_messages", record, True
        for is_later in self.directions:
            for record in self._beginning_alike(prompt, is_later=is_later):
                yield "same_prompt", record, is_later

    def _beginning_alike(self, prompt: _Prompt, *, is_later: bool) -> Iterator[Record]:
        """Yield successful requests whose prompt begins like ``prompt``, the nearest first."""
        terms = _words(prompt.beginning)
        candidates = self._page((*self._path, *terms), is_later=is_later) if terms else []
        if self._record.request_bytes > MAX_CHARACTERS:  # the text index does not have the beginning of a long prompt
            candidates += self._page(self._path, is_later=is_later)
        for record in candidates[: 2 * _CANDIDATES]:
            other = self._read(record)
            if other is not None and _begin_alike(prompt, other):
                yield record

    def nearest(self, relation: Relation, *, is_later: bool) -> list[Record]:
        """Return successful requests with the same model and path, or only the same namespace, the nearest first."""
        model = self._record.model
        if relation == "same_namespace":
            return self._page(self._namespace, is_later=is_later, limit=2)
        if model is None:
            return []
        return self._page((*self._path, Term("model", (model,))), is_later=is_later, limit=2)

    def _by_chain(self, prompt: _Prompt, chain: MessageChain) -> Iterator[tuple[Relation, str]]:
        """Yield the latest earlier request with the same messages, and then the latest turn of the same conversation.

        The requests with the same words and the latest requests are compared.
        """
        terms = _words(prompt.beginning, prompt.question)
        latest = self._chains(self._path, _LINKS)
        alike = self._chains((*self._path, *terms), _CANDIDATES) if terms else {}
        for record_id, other in (latest | alike).items():
            if other.messages_key == chain.messages_key:
                yield "same_messages", record_id
        continued = {key for origin in chain.origins for key in (origin.keys.all, origin.keys.window) if key}
        for record_id, other in latest.items():
            if any(keys.all in continued or keys.window in continued for keys in other.after):
                yield "same_conversation", record_id

    def _chains(self, terms: tuple[Term, ...], limit: int) -> dict[str, MessageChain]:
        """Return the message chains of earlier successful requests by id, the latest first."""
        before = None if self._record.seq is None else Cursor("older", self._record.seq)
        links = self._reader.links(Filter(terms), limit, before, self._deadline_ns)
        return {link.id: decode_chain(link.chain) for link in links if link.chain is not None}

    def _read(self, record: Record) -> _Prompt | None:
        if record.request_bytes > _MAX_BYTES or (view := RequestView.open(self._reader, record.id)) is None:
            return None
        return _prompt_of(view)

    def _page(self, terms: tuple[Term, ...], *, is_later: bool, limit: int = _CANDIDATES) -> list[Record]:
        """Return successful requests, the nearest first."""
        seq = self._record.seq
        cursor = None if seq is None else Cursor("newer" if is_later else "older", seq)
        found = self._reader.page(Filter(terms), limit, cursor, self._deadline_ns)
        self.complete = self.complete and found.complete
        return found.records[::-1] if is_later else found.records


def _prompt_of(view: RequestView) -> _Prompt | None:
    """Return the prompt of a request. `None` if the body is not stored or cannot be read, or has no messages."""
    try:
        request = view.request()
    except BodyDamaged:
        return None
    if request is None or not request.messages:
        return None
    system = list(takewhile(lambda message: message.role in _SYSTEM, request.messages))
    asked = [message for message in request.messages if message.role == "user"] or request.messages
    return _Prompt(
        has_system=bool(system),
        beginning=_text_of((system or request.messages)[0]),
        question=_text_of(asked[-1]),
        chain=_chain_of(request),
    )


def _chain_of(request: Request) -> MessageChain | None:
    chain = build_chain(request, None)
    return chain if chain is not None and chain.messages_key else None


def _text_of(message: Message) -> str:
    return "".join([part.text for part in message.parts if part.kind == "text" and part.text])[:_BEGINNING]


def _words(*texts: str) -> tuple[Term, ...]:
    """Return a term for the first words of each text, except for texts without words."""
    return tuple(Term(WORDS, (phrase,)) for phrase in dict.fromkeys(map(_phrase, texts)) if phrase)


def _phrase(text: str) -> str:
    """Return the first words of a text by which similar texts can be found. Empty if the text has no words.

    Words with digits are avoided, because dates and ids often differ.
    """
    runs: list[list[str]] = [[]]
    for word in words_of(text):
        if any(character.isdigit() for character in word):
            runs.append([])
        else:
            runs[-1].append(word)
    phrase = next((run for run in runs if len(run) >= _FEW_WORDS), max(runs, key=len))
    return " ".join(phrase[:_MAX_WORDS])


def _have_equal_messages(prompt: _Prompt, other: _Prompt) -> bool:
    if prompt.chain is None or other.chain is None:
        return False
    return prompt.chain.messages_key == other.chain.messages_key


def _begin_alike(prompt: _Prompt, other: _Prompt) -> bool:
    """Return whether two prompts have the same words at the beginning. Prompts of a few words must be equal."""
    phrase = _phrase(prompt.beginning)
    if prompt.has_system != other.has_system or not phrase:
        return False
    if len(phrase.split()) < _FEW_WORDS:
        return words_of(prompt.beginning) == words_of(other.beginning)
    return contains(other.beginning, phrase)


def _answer(
    search: _Search, record: Record | None, relation: Relation | None, prompt: _Prompt | None, *, is_later: bool
) -> LastGood:
    is_alike = relation is not None and relation not in _NEAREST
    return LastGood(
        request=None if record is None else to_json(record),
        is_alike=is_alike,
        relation=relation,
        is_later=is_later,
        complete=search.complete,
        message=_message(relation, prompt, is_alike=is_alike, is_later=is_later),
    )


def _message(relation: Relation | None, prompt: _Prompt | None, *, is_alike: bool, is_later: bool) -> str:
    if relation is None:
        return "The namespace has no other successful request."
    if is_later and is_alike:
        what = "these messages" if relation == "same_messages" else "this prompt"
        return f"No earlier request with {what} was successful. A is a later request that was successful."
    start = "system prompt" if prompt is not None and prompt.has_system else "first message"
    which = "first successful request after" if is_later else "last successful request before"
    described = _MESSAGES[relation].format(start=start)
    if is_alike:
        return f"A is the {which} B, {described}."
    has_prompt = prompt is not None
    reason = "No successful request has this prompt." if has_prompt else "The prompt of this request cannot be read."
    return f"{reason} The nearest is the {which} this request, {described}."
