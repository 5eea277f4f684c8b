"""Read embeddings. The vectors are not read, only their number and size."""

from typing import Any

from relaybook.log.formats.completion import read_texts
from relaybook.log.formats.conversation import Error, Output, Part, Request, Response
from relaybook.log.formats.lenient import text_or_none
from relaybook.log.formats.provider_errors import find_error


def read_request(body: dict[str, Any]) -> Request:
    """Return the inputs of a request as messages: one for each text."""
    return read_texts(body, "input")


class Stream:
    """A response. Embeddings are not streamed, so there is one event."""

    has_end_mark = False
    has_token = False
    is_finished = True

    def __init__(self) -> None:
        self.is_known = False
        self._body: dict[str, Any] = {}
        self._error: Error | None = None

    def add(self, body: dict[str, Any], name: str = "") -> None:
        """Add the response."""
        self._body = body
        self.is_known = isinstance(body.get("data"), list) or text_or_none(body.get("model")) is not None
        self.add_error(body)

    def add_error(self, value: dict[str, Any], name: str = "") -> None:
        """Set the error of the response, if there is none yet."""
        self._error = self._error or find_error(value, has_output=bool(self._body.get("data")))

    def add_error_text(self, text: str) -> None:
        """Do nothing, because there are no events."""

    def response(self) -> Response:
        """Return the response."""
        body = self._body
        usage = body.get("usage")
        read = ("id", "model", "data", "usage", "error")
        return Response(
            id=text_or_none(body.get("id")),
            model=text_or_none(body.get("model")),
            outputs=_outputs(body.get("data")),
            usage=usage if isinstance(usage, dict) else None,
            error=self._error,
            other={name: value for name, value in body.items() if name not in read},
        )


def _outputs(vectors: object) -> list[Output]:
    if not (isinstance(vectors, list) and vectors and isinstance(vectors[0], dict)):
        return []
    vector = vectors[0].get("embedding")
    size = len(vector) if isinstance(vector, list) else len(vector) * 3 // 16 if isinstance(vector, str) else None
    return [Output(index=0, parts=[Part(kind="other", type="embeddings", text=describe_vectors(len(vectors), size))])]


def describe_vectors(count: int, size: int | None) -> str:
    """Describe vectors, such as ``3 vectors of 1,536 numbers``. ``size`` is `None` if it is unknown."""
    numbers = "" if size is None else f" of {size:,} {'number' if size == 1 else 'numbers'}"
    return f"{count:,} {'vector' if count == 1 else 'vectors'}{numbers}"
