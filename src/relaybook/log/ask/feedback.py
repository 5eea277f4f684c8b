"""Give feedback on a request, and summarize feedback."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from relaybook.clock import format_timestamp
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import RequestFeedback
from relaybook.log.feedback import FeedbackLog, TooMuchFeedback
from relaybook.log.query.filters import Filter
from relaybook.log.record import Feedback
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Reader


class FeedbackSummary(Struct, kw_only=True):
    """The feedback on the requests that match a filter."""

    requests: Annotated[int, Meta(description="Number of matching requests that have feedback.")]
    scores: Annotated[
        int,
        Meta(
            description="Number of scores that these requests have. A request has at most one score from each source."
        ),
    ]
    mean_score: Annotated[
        float | None, Meta(description="Mean of all scores of the matching requests. `null` if no request has a score.")
    ]
    complete: Annotated[
        bool,
        Meta(
            description="`false` if the search was stopped at its time limit. In that case, only the newest requests "
            "are counted."
        ),
    ]


class AcceptedFeedback(Struct, kw_only=True):
    """The accepted feedback, and whether it is already in the log."""

    state: Annotated[
        Literal["stored", "pending"],
        Meta(
            description="`stored`: the feedback was added to a finished request. `pending`: no finished request has "
            "the id yet. The feedback is added when a request with the id is recorded."
        ),
    ]
    feedback: RequestFeedback


def give(feedback_log: FeedbackLog, any_id: str, feedback: Feedback) -> AcceptedFeedback:
    """Add feedback to the request with the id. Raises AskError."""
    try:
        is_recorded = feedback_log.add_feedback(any_id, feedback)
    except TooMuchFeedback as error:
        raise AskError("too_much_feedback", str(error)) from None
    except StoreUnavailable as error:
        raise AskError("store_unavailable", f"The feedback was not stored: {error} Try again.") from error
    return AcceptedFeedback(
        state="stored" if is_recorded else "pending",
        feedback=RequestFeedback(
            source=feedback.source,
            score=feedback.score,
            label=feedback.label,
            comment=feedback.comment,
            at=format_timestamp(feedback.at),
        ),
    )


def summary(reader: Reader, filter_: Filter, deadline_ns: int) -> FeedbackSummary:
    """Return totals of the feedback on the finished requests that match."""
    totals = reader.feedback_totals(filter_, deadline_ns)
    return FeedbackSummary(
        requests=totals.requests,
        scores=totals.scores,
        mean_score=totals.score_sum / totals.scores if totals.scores else None,
        complete=totals.complete,
    )
