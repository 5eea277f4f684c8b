"""The shapes of what /api/thread answers; see ``answers`` for what all shapes share."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from relaybook.api.fields import MomentText, row_fields
from relaybook.api.sums_answers import Sum


class NewMessages(Struct, kw_only=True):
    """Which of a request's messages were not in the request it goes on from."""

    from_: Annotated[int, Meta(description="The index of the first.")] = field(name="from")
    count: int


class ThreadPart(Struct, kw_only=True):
    """What a row of a thread has besides."""

    conversation: Annotated[str, Meta(description="The id of the conversation's first request that was looked at.")]
    turn: Annotated[int, Meta(description="Counts from 1 along the conversation.")]
    follows: Annotated[str | None, Meta(description="The request it goes on from; null: it begins a conversation.")]
    repeats: Annotated[
        str | None, Meta(description="The latest request before it with the same messages: a retry or a variant.")
    ]
    new_messages: NewMessages


if TYPE_CHECKING:
    #: A row and its place in the thread, in one object.
    ThreadRow: TypeAlias = dict[str, Any]
else:
    ThreadRow = msgspec.defstruct(
        "ThreadRow",
        row_fields(),
        bases=(ThreadPart,),
        kw_only=True,
        namespace={"__doc__": "A request and its place in its conversation."},
    )


class Conversation(Struct, kw_only=True):
    """What of a conversation is on this page."""

    conversation: str
    requests: int
    turns: Annotated[int, Meta(description="The highest turn.")]
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, Meta(description="Of the requests whose cost is known; null: of none it is.")]
    first_at: MomentText
    last_at: MomentText


class Thread(Struct, kw_only=True):
    """Requests of one namespace or property value in the order in which they were recorded, cut into conversations."""

    data: list[ThreadRow]
    conversations: Annotated[list[Conversation], Meta(description="In the order of their first requests.")]
    total: Annotated[Sum | None, Meta(description="Of all requests of the thread; null: too many to add up in time.")]
    is_thread: Annotated[
        bool, Meta(description="False when fewer than one in five requests of this page go on from another.")
    ]
    next_cursor: Annotated[str | None, Meta(description="Pass it on as `cursor` for older requests; null: none.")]
    complete: Annotated[bool, Meta(description="False when the deadline ended the search.")]
