"""Define the entry of a request: everything that the store keeps of it."""

import msgspec

from relaybook.log.query.words import SearchText
from relaybook.log.record import Detail, Record


class BodyRef(msgspec.Struct, frozen=True, array_like=True):
    """A reference to body bytes in a store. Only the store that created ``location`` can interpret it."""

    location: tuple[int, ...]
    #: The number of transferred bytes.
    size: int


class Body(msgspec.Struct, array_like=True):
    """The bytes of one body as transferred.

    The bytes behind ``refs`` were written earlier with ``Writer.write_body``. The bytes in ``rest`` follow them.
    """

    refs: list[BodyRef] = []
    rest: list[bytes] = []


class Entry(msgspec.Struct, kw_only=True):
    """A finished request to be stored.

    The store assigns ``record.seq``. The store also adds feedback that arrived before the request was recorded.

    A body is `None` if the body must not be stored. ``record.body_state`` also says whether the bodies are stored.
    ``detail`` is `None` if it is not stored, for example because the content of the request has expired.
    """

    record: Record
    detail: Detail | None
    request: Body | None
    response: Body | None
    #: The encoded message chain, which identifies the requests that this request continues. The store does not decode
    #: the message chain.
    chain: bytes | None = None
    #: The search text; see ``search_text``. `None` if it must be read from the bodies.
    text: SearchText | None = None


def body_size(body: Body | None) -> int | None:
    """Return the size of a body in bytes, as transferred.

    `None` if the body is not stored.
    """
    if body is None:
        return None
    in_store = sum(ref.size for ref in body.refs) if body.refs else 0
    return in_store + sum(map(len, body.rest))
