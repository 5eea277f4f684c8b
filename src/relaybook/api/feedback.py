"""Accept feedback from the page and from applications, and summarize feedback.

Applications may use a separate token, which only allows giving feedback.
"""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.json_body import parse_body
from relaybook.api.routes import Routes
from relaybook.log.ask.feedback import AcceptedFeedback, FeedbackSummary
from relaybook.log.feedback import MAX_COMMENT, MAX_LABEL, MAX_SOURCE, NewFeedback
from relaybook.log.query.filters import BadFilter
from relaybook.log.record import stored_id

routes = Routes("log")

_EXPECTED: Final = {
    "score": "a finite number, or null",
    "label": f"a string of 1 to {MAX_LABEL} characters without NUL, or null",
    "comment": f"a string of 1 to {MAX_COMMENT} characters without NUL, or null",
    "source": f"a string of 1 to {MAX_SOURCE} characters without NUL",
}
_EXAMPLE: Final = '{"score": 1, "label": "helpful"}'


@routes.post("/api/requests/{id:path}/feedback", openapi.describe(AcceptedFeedback, [openapi.ANY_ID], body=NewFeedback))
async def give_feedback(request: Request) -> Response:
    """Give feedback on a request. New feedback replaces earlier feedback from the same source.

    If the id is not a Relaybook id, the feedback is for the newest finished request with this id.

    If no finished request has the id yet, the feedback is pending and is kept for an hour. If the id is the Relaybook
    id of a running request, the feedback is kept at least until this request ends. Pending feedback is added to the
    first request that is recorded with the id.

    This call accepts the dashboard's token or the `feedback_token`. The `feedback_token` allows no other call.
    """
    arguments.only(arguments.pairs_of(request))
    any_id = _checked_id(request.path_params["id"])
    new = parse_body(await request.body(), NewFeedback, _EXPECTED, _EXAMPLE)
    if not new.is_finite:
        raise ApiError("bad_body", f"score is {new.score}: expected {_EXPECTED['score']}.", "score")
    if new.is_empty:
        raise ApiError("bad_body", "The body contains no feedback. Set at least one of score, label and comment.")
    feedback = new.received(clock.wall_us())
    accepted = await async_asker_of(request).run(lambda asker: asker.give_feedback(any_id, feedback))
    return Response(msgspec.json.encode(accepted), media_type="application/json")


@routes.get("/api/feedback", openapi.describe(FeedbackSummary, openapi.filter_parameters()))
async def summarize_feedback(request: Request) -> Response:
    """Return the number of requests that match the filter and have feedback, and the mean of all their scores.

    Only finished requests are counted. The newest requests are searched first. If the search takes longer than 300 ms,
    it is stopped, and `complete` in the response is `false`.
    """
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    summary = await async_asker_of(request).run(lambda asker: asker.feedback(filter_))
    return Response(msgspec.json.encode(summary), media_type="application/json")


def _checked_id(any_id: str) -> str:
    is_text = "\0" not in any_id and not any("\ud800" <= character <= "\udfff" for character in any_id)
    if not (any_id.strip() and is_text):
        raise BadFilter("id", f"id is {any_id[:80]!r}: expected text without NUL.")
    return stored_id(any_id)
