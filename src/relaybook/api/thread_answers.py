"""The models of the response of /api/thread. See ``answers`` for the rules of all models."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from relaybook.api.fields import MomentText, row_fields
from relaybook.api.sums_answers import Sum


class NewMessages(Struct, kw_only=True):
    """The messages of a request that the request it continues does not have."""

    from_: Annotated[int, Meta(description="Index of the first new message.")] = field(name="from")
    count: int


class ThreadPart(Struct, kw_only=True):
    """The fields that a row of a thread has and a row of the log has not."""

    conversation: Annotated[str, Meta(description="Id of the first known request of the conversation.")]
    turn: Annotated[int, Meta(description="Position in the conversation, from 1.")]
    follows: Annotated[
        str | None, Meta(description="Id of the request it continues. `null` if it starts a conversation.")
    ]
    repeats: Annotated[
        str | None,
        Meta(description="Id of the latest earlier request with the same messages: a retry or a variant."),
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
        namespace={"__doc__": "A request and its position in its conversation."},
    )


class Conversation(Struct, kw_only=True):
    """The part of a conversation that is on this page."""

    conversation: str
    requests: int
    turns: Annotated[int, Meta(description="The highest `turn`.")]
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[
        float | None, Meta(description="Cost of the requests whose cost is known. `null` if unknown for all of them.")
    ]
    first_at: MomentText
    last_at: MomentText


class Thread(Struct, kw_only=True):
    """The requests of a namespace or property value in the order of recording, grouped into conversations."""

    data: list[ThreadRow]
    conversations: Annotated[list[Conversation], Meta(description="In the order of their first requests on this page.")]
    total: Annotated[
        Sum | None, Meta(description="Aggregates of the whole thread. `null` if there was no time to compute them.")
    ]
    is_thread: Annotated[
        bool, Meta(description="`false` if fewer than one in five requests of this page continue another.")
    ]
    next_cursor: Annotated[
        str | None, Meta(description="The `cursor` of the next, older page. `null` on the last page.")
    ]
    complete: Annotated[bool, Meta(description="`false` if the search was stopped at its deadline.")]
