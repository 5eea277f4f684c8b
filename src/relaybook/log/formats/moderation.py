"""Read OpenAI's Moderations API: what was checked, and which categories were found."""

from typing import Any

from relaybook.apis import Match
from relaybook.log.formats.completion import read_texts
from relaybook.log.formats.content import content_parts
from relaybook.log.formats.conversation import Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import is_object, text_or_none
from relaybook.log.formats.stream import BaseStream


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the texts to check as messages: one for each text. A list of parts with images is one message."""
    value = body.get("input")
    if isinstance(value, list) and any(map(is_object, value)):
        parameters = {name: each for name, each in body.items() if name != "input"}
        return Request(messages=[Message("user", content_parts(value))], parameters=parameters)
    return read_texts(body, "input")


class Stream(BaseStream):
    """A response. Moderations are not streamed, so there is one event."""

    def __init__(self) -> None:
        super().__init__()
        self._body: dict[str, Any] = {}

    def add(self, body: dict[str, Any], name: str = "") -> None:
        """Add the response."""
        self._body = body
        self.is_known = isinstance(body.get("results"), list)
        self.add_error(body)

    @property
    def is_finished(self) -> bool:
        """Always true."""
        return True

    def response(self) -> Response:
        """Return the response, with one output for each result."""
        body = self._body
        usage, results = body.get("usage"), body.get("results")
        read = ["id", "model", "usage", "error", *(["results"] if isinstance(results, list) else [])]
        return Response(
            id=text_or_none(body.get("id")),
            model=text_or_none(body.get("model")),
            outputs=[_output(*each) for each in enumerate(results)] if isinstance(results, list) else [],
            usage=usage if isinstance(usage, dict) else None,
            error=self._error,
            other={name: value for name, value in body.items() if name not in read},
        )


def _output(index: int, result: object) -> Output:
    fields = result if is_object(result) else {"result": result}
    categories = fields.get("categories")
    found = [name for name, value in categories.items() if value is True] if is_object(categories) else []
    text = ", ".join(found) or ("flagged" if fields.get("flagged") is True else "not flagged")
    return Output(index, [Part("other", text, type="moderation", other=fields)])
