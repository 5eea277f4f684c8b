"""Every field of a record has its meaning written down."""

from relaybook.api.schemas import MEANINGS
from relaybook.log.record import FIELDS


def test_the_meanings_are_those_of_the_records_fields_in_their_order() -> None:
    assert tuple(MEANINGS) == FIELDS
    assert all(meaning.endswith(".") for meaning in MEANINGS.values())
