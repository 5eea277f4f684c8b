"""Test how the path determines the kind of a request."""

import pytest

from relaybook.kinds import kind_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/chat/completions", "chat"),
        ("/chat/completions/", "chat"),
        ("/completions", "completion"),
        ("/responses", "response"),
        ("/embeddings", "embedding"),
        ("/messages", "message"),
        ("/messages/count_tokens", "message"),
        ("/messages/batches", "other"),
        ("/models", "models"),
        ("/models/org%2Fmodel", "models"),
        ("/audio/speech", "other"),
        ("", "other"),
    ],
)
def test_the_kind_is_determined_by_the_path(path: str, kind: str) -> None:
    assert kind_of(path) == kind
