"""Read embeddings and rankings of OpenAI, Cohere, Voyage and Jina.

The vectors are not read, only their number and size. A ranking (``rerank``) orders documents by their relevance to a
query. Cohere's counts are in ``meta``.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.completion import read_texts
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import is_object, text_or_none
from relaybook.log.formats.media import media_part
from relaybook.log.formats.stream import BaseStream

#: The fields with the inputs of a request, besides ``input``.
_INPUTS: Final = ("query", "documents", "texts", "images", "inputs")
_READ: Final = ("id", "model", "data", "embeddings", "embedding", "results", "usage", "meta", "error")


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the inputs of a request as messages: one for each text, image or document."""
    if body.get("input") is not None or not any(isinstance(body.get(name), str | list) for name in _INPUTS):
        return read_texts(body, "input")
    read, inputs = set(), []
    for name in _INPUTS:
        value = body.get(name)
        if isinstance(value, str | list):
            read.add(name)
            inputs += [(name, item) for item in (value if isinstance(value, list) else [value])]
    first, omitted, last = ends(inputs)
    return Request(
        messages=[Message("user", _parts(*each)) for each in (*first, *last)],
        omitted=omitted,
        parameters={name: value for name, value in body.items() if name not in read},
        is_text_list=True,
    )


def _parts(name: str, item: object) -> list[Part]:
    if name == "images" and isinstance(item, str):
        return [media_part("image", item, {})]
    if is_object(item) and item.keys() == {"content"}:  # an input of Cohere, with text and images
        return content_parts(item["content"])
    return content_parts([item])


class Stream(BaseStream):
    """A response. Embeddings are not streamed, so there is one event."""

    def __init__(self) -> None:
        super().__init__()
        self._body: dict[str, Any] = {}

    def add(self, body: dict[str, Any], name: str = "") -> None:
        """Add the response."""
        self._body = body
        self.is_known = text_or_none(body.get("model")) is not None or any(
            isinstance(body.get(name), list | dict) for name in ("data", "embeddings", "results")
        )
        self.add_error(body)

    @property
    def is_finished(self) -> bool:
        """Always true."""
        return True

    def _has_output(self, event: dict[str, Any]) -> bool:
        return any(self._body.get(name) for name in ("data", "embeddings", "results"))

    def response(self) -> Response:
        """Return the response."""
        body = self._body
        usage = body.get("usage") or body.get("meta")
        read = [name for name in _READ if name != "meta" or usage is body.get("meta")]
        return Response(
            id=text_or_none(body.get("id")),
            model=text_or_none(body.get("model")),
            outputs=_outputs(body),
            usage=usage if isinstance(usage, dict) else None,
            error=self._error,
            other={name: value for name, value in body.items() if name not in read},
        )


def _outputs(body: dict[str, Any]) -> list[Output]:
    if text := describe_response(body):
        return [Output(index=0, parts=[Part(kind="other", type="embeddings", text=text)])]
    results = body.get("results") or body.get("data")
    if isinstance(results, list) and results and is_object(results[0]) and "relevance_score" in results[0]:
        text = f"{len(results):,} ranked {'document' if len(results) == 1 else 'documents'}"
        return [Output(index=0, parts=[Part(kind="other", type="ranking", text=text, other={"results": results})])]
    return []


def describe_response(body: dict[str, Any]) -> str | None:
    """Return the number and the size of the vectors of a response. `None` if there are none."""
    vectors = _vectors(body)
    if not vectors:
        return None
    vector = vectors[0].get("embedding") if is_object(vectors[0]) else vectors[0]
    size = len(vector) if isinstance(vector, list) else len(vector) * 3 // 16 if isinstance(vector, str) else None
    return describe_vectors(len(vectors), size)


def describe_vectors(count: int, size: int | None) -> str:
    """Describe vectors, such as ``3 vectors of 1,536 numbers``. ``size`` is `None` if it is unknown."""
    numbers = "" if size is None else f" of {size:,} {'number' if size == 1 else 'numbers'}"
    return f"{count:,} {'vector' if count == 1 else 'vectors'}{numbers}"


def _vectors(body: dict[str, Any]) -> list[Any]:
    """Return the vectors: objects with a field ``embedding``, lists of numbers, or texts in base64."""
    data, several, one = body.get("data"), body.get("embeddings"), body.get("embedding")
    if isinstance(data, list) and data and is_object(data[0]) and "relevance_score" not in data[0]:
        return data
    if is_object(several):  # Cohere: the same vectors in each type that the request lists
        several = next((each for each in several.values() if isinstance(each, list) and each), None)
    if isinstance(several, list) and several and isinstance(several[0], list | str):
        return several
    return [one] if isinstance(one, list) and one else []
