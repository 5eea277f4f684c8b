"""Test that every field of a record is documented."""

from relaybook.log.ask.fields import MEANINGS
from relaybook.log.record import FIELDS


def test_every_field_of_a_record_has_a_meaning_in_the_same_order() -> None:
    assert tuple(MEANINGS) == FIELDS
    assert all(meaning.endswith(".") for meaning in MEANINGS.values())
