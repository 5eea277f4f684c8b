"""Write embeddings, which are small unit vectors that depend only on the text."""

import base64
import hashlib
import math
import struct

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.models import is_mistral
from relaybook_demo.simulator.replies import Reply, Stamp, json_reply
from relaybook_demo.simulator.requests import EmbeddingsRequest

DIMENSIONS = 16


def embed(request: EmbeddingsRequest, stamp: Stamp) -> Reply:
    """Return one vector per input, as numbers or as base64-encoded little-endian 32-bit floats."""
    inputs = _inputs(request)
    vectors = [vector(text, request.dimensions or DIMENSIONS) for text in inputs]
    as_base64 = request.encoding_format == "base64"
    tokens = sum(texts.count_tokens(text) for text in inputs)
    data = [
        {"object": "embedding", "index": index, "embedding": encode_base64(vector) if as_base64 else vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    body = {"object": "list", "data": data, "model": request.model, "usage": usage}
    return json_reply({"id": f"embd-{stamp.unique}", **body} if is_mistral(request.model or "") else body)


def _inputs(request: EmbeddingsRequest) -> list[str]:
    """Return the inputs as texts. A request has one or several texts, or one or several lists of token ids."""
    if isinstance(request.input, str):
        return [request.input]
    if request.input and isinstance(request.input[0], int):
        return [str(request.input)]
    return [str(item) for item in request.input]


def vector(text: str, dimensions: int) -> list[float]:
    """Return the unit vector of a text. The numbers are exact as 32-bit floats."""
    stream = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(4 * dimensions)
    numbers = [value / 2**31 for value in struct.unpack(f"<{dimensions}i", stream)]
    size = math.sqrt(sum(value * value for value in numbers)) or 1.0
    exact = struct.unpack(f"<{dimensions}f", struct.pack(f"<{dimensions}f", *(value / size for value in numbers)))
    return list(exact)


def encode_base64(vector: list[float]) -> str:
    """Return a vector as base64-encoded little-endian 32-bit floats."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
