"""Sentences about what a tool gave back, by the fields that its result has."""

from typing import Final

#: The fields that a result must have, and the sentence. The first that fits is taken.
SENTENCES: Final[tuple[tuple[frozenset[str], str], ...]] = (
    (
        frozenset({"city", "sky", "celsius", "wind"}),
        "In {city} it is {sky} at {celsius} °C, with {wind}. That should do for sitting outside until the evening.",
    ),
    (
        frozenset({"order", "state", "sent_on", "amount"}),
        "The refund for order {order} is **{state}**: {amount} left our account on {sent_on}. It is usually on the "
        "card three to five working days later.",
    ),
)
