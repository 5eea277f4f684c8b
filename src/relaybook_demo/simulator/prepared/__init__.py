"""Texts written by hand for the simulated model: what is asked about (a pattern), and what is answered.

The first topic whose pattern is found in the prompt answers it; ``{order}`` in an answer is what the pattern's group of
that name found. Nothing here knows about requests or formats.
"""

from typing import Final

from relaybook_demo.simulator.prepared import everyday, languages, long_reads, shop, work

#: A pattern, compared without regard to case, and one answer or several that vary.
Topic = tuple[str, tuple[str, ...]]

TOPICS: Final[tuple[Topic, ...]] = (
    *long_reads.TOPICS,
    *languages.TOPICS,
    *shop.TOPICS,
    *everyday.TOPICS,
    *work.TOPICS,
    *languages.ANYTHING_ELSE,
)
