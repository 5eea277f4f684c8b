"""Test that embeddings depend only on the text."""

import base64
import json
import math
import struct
from typing import Any

from relaybook_demo.simulator.apis.embeddings import DIMENSIONS, embed
from relaybook_demo.simulator.replies import Stamp
from relaybook_demo.simulator.requests import EmbeddingsRequest


def vectors(request: EmbeddingsRequest) -> list[Any]:
    return [item["embedding"] for item in json.loads(embed(request, Stamp("ab", 0)).body)["data"]]


def test_both_formats_have_the_same_numbers() -> None:
    (numbers,) = vectors(EmbeddingsRequest("a"))
    (packed,) = vectors(EmbeddingsRequest("a", encoding_format="base64"))
    assert list(struct.unpack(f"<{DIMENSIONS}f", base64.b64decode(packed))) == numbers


def test_vectors_are_unit_vectors_and_differ() -> None:
    first, second = vectors(EmbeddingsRequest(["a", "b"], dimensions=5))
    assert first != second
    assert math.isclose(sum(value * value for value in first), 1, rel_tol=1e-5)
    assert len(first) == 5


def test_token_ids_are_one_input() -> None:
    assert len(vectors(EmbeddingsRequest([1, 2, 3]))) == 1
    assert len(vectors(EmbeddingsRequest([[1, 2], [3]]))) == 2
