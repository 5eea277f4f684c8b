"""Define feedback on requests: its limits, and how feedback is combined and added.

A *source* gives feedback: a person at the dashboard, the users of an application, or an evaluation. A request keeps
only the latest feedback from each source. Feedback names a request by any of its ids. If the request is not
recorded yet, the feedback is pending, and is added when the request is recorded.
"""

import math
from collections.abc import Iterable
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

from relaybook.ids import parse_id
from relaybook.log.record import Feedback

#: How long pending feedback is kept, in microseconds. Feedback on a running request is kept until the request ends,
#: even if this takes longer.
PENDING_US: Final = 3_600_000_000
#: The maximum number of pending feedback entries. Each entry takes at most 20 KB.
MAX_PENDING: Final = 10_000
#: The maximum number of sources that give feedback on one request.
MAX_SOURCES: Final = 100
MAX_LABEL: Final = 100
MAX_COMMENT: Final = 4000
MAX_SOURCE: Final = 100
#: The source of feedback that does not name a source.
DEFAULT_SOURCE: Final = "api"
_TEXT: Final = r"^[^\x00]+$"


class NewFeedback(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Feedback on a request. At least one of score, label and comment is set."""

    score: Annotated[
        float | None, Meta(description="How good the response is, as a number. Any finite number is allowed.")
    ] = None
    label: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_LABEL, pattern=_TEXT)] | None,
        Meta(description="A short name that groups requests, such as `wrong_tone`."),
    ] = None
    comment: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_COMMENT, pattern=_TEXT)] | None,
        Meta(description="Free text."),
    ] = None
    source: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_SOURCE,
            pattern=_TEXT,
            description="The person or program that gives the feedback. A request keeps only the latest feedback from "
            "each source.",
        ),
    ] = DEFAULT_SOURCE

    @property
    def is_empty(self) -> bool:
        """Whether the feedback has no score, no label and no comment."""
        return self.score is None and self.label is None and self.comment is None

    @property
    def is_finite(self) -> bool:
        """Whether the score, if there is one, is a finite number."""
        return self.score is None or math.isfinite(self.score)

    def received(self, at: int) -> Feedback:
        """Return the feedback as stored. ``at`` is the time at which the feedback arrived, in microseconds."""
        return Feedback(source=self.source, score=self.score, label=self.label, comment=self.comment, at=at)


class TooMuchFeedback(ValueError):
    """The request already has feedback from MAX_SOURCES other sources, or MAX_PENDING feedback entries are pending."""


class FeedbackLog(Protocol):
    """Adds feedback. Safe to use from any process and any thread while the recorder writes to the store."""

    def add_feedback(self, any_id: str, feedback: Feedback) -> bool:
        """Add feedback on the request with this Relaybook id, or on the newest request with this foreign id.

        ``record.FOREIGN_IDS`` lists the foreign ids. The addition is atomic and durable. If no finished request has the
        id, the feedback is pending and the method returns False. Raises TooMuchFeedback. Raises StoreUnavailable if no
        store exists yet or if other programs lock the store.
        """


def combined(feedback: Iterable[Feedback]) -> list[Feedback]:
    """Return the last feedback of each source in ``feedback``, sorted by source."""
    return [each for _, each in sorted({each.source: each for each in feedback}.items())]


def pending_id(any_id: str) -> str:
    """Return the id under which pending feedback is stored.

    A Relaybook id is converted to lower case, because callers may send it in upper case.
    """
    lower = any_id.lower()
    return any_id if parse_id(lower) is None else lower


def latest_label(feedback: Iterable[Feedback]) -> str | None:
    """Return the latest label, or `None` if no feedback has a label."""
    labeled = [(each.at, each.source, each.label) for each in feedback if each.label is not None]
    return max(labeled)[2] if labeled else None


def too_many_sources() -> TooMuchFeedback:
    """Return the error for a request with feedback from too many sources."""
    return TooMuchFeedback(f"The request already has feedback from {MAX_SOURCES} other sources, which is the maximum.")


def too_many_pending() -> TooMuchFeedback:
    """Return the error for too much pending feedback."""
    return TooMuchFeedback(
        f"{MAX_PENDING:,} feedback entries for unknown ids are pending, which is the maximum. Send the ids of requests "
        "that this Relaybook logs, and try again later."
    )
