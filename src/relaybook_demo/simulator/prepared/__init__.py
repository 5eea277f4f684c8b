"""Declare the simulated model's prepared texts. Each topic has a pattern, and responses to matching prompts.

The first topic whose pattern matches the prompt is used. ``{order}`` in a response is replaced with the value of the
pattern's group ``order``. This package does not use request objects or the formats of the APIs.
"""

from typing import Final

from relaybook_demo.simulator.prepared import everyday, languages, long_reads, shop, work

#: A case-insensitive pattern, and one or more responses to choose from.
Topic = tuple[str, tuple[str, ...]]

TOPICS: Final[tuple[Topic, ...]] = (
    *long_reads.TOPICS,
    *languages.TOPICS,
    *shop.TOPICS,
    *everyday.TOPICS,
    *work.TOPICS,
    *languages.ANYTHING_ELSE,
)
