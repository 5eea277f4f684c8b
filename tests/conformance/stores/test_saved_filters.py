"""All stores: filters are saved under a name, and at most 100 filters can be saved."""

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry

from relaybook.log.saved_filters import MAX_SAVED_FILTERS, SavedFilter, TooManySavedFilters

STAGING = SavedFilter("staging failures", (("namespace", "staging"), ("failed", "true"), ("from", "-1h")), 5)


def test_a_new_store_has_no_saved_filters(store: Store) -> None:
    assert store.reader.saved_filters() == []


def test_saved_filters_are_listed_by_name_and_survive_a_restart(store: Store) -> None:
    store.commit(an_entry())
    other = SavedFilter("Costly", (("sort", "cost_usd"),), 6)
    assert store.saved_filters.save_filter(STAGING) == STAGING
    store.saved_filters.save_filter(other)
    store.restart()
    assert store.reader.saved_filters() == [other, STAGING]


def test_saving_under_a_known_name_replaces_the_filter_and_keeps_the_creation_time(store: Store) -> None:
    store.saved_filters.save_filter(STAGING)
    stored = store.saved_filters.save_filter(SavedFilter(STAGING.name, (("model", "gpt-4o"),), 99))
    assert stored == SavedFilter(STAGING.name, (("model", "gpt-4o"),), 5)
    assert store.reader.saved_filters() == [stored]


def test_deleting_returns_the_deleted_filter_or_none(store: Store) -> None:
    store.saved_filters.save_filter(STAGING)
    assert store.saved_filters.delete_filter("staging") is None
    assert store.saved_filters.delete_filter(STAGING.name) == STAGING
    assert store.saved_filters.delete_filter(STAGING.name) is None
    assert store.reader.saved_filters() == []


def test_a_full_store_rejects_new_names_only(store: Store) -> None:
    for number in range(MAX_SAVED_FILTERS):
        store.saved_filters.save_filter(SavedFilter(f"filter {number:03}", STAGING.params, number))
    with pytest.raises(TooManySavedFilters):
        store.saved_filters.save_filter(STAGING)
    replaced = SavedFilter("filter 000", (("model", "gpt-4o"),), 0)
    store.saved_filters.save_filter(replaced)
    assert len(store.reader.saved_filters()) == MAX_SAVED_FILTERS
    assert store.reader.saved_filters()[0] == replaced
    store.saved_filters.delete_filter("filter 001")
    store.saved_filters.save_filter(STAGING)


@pytest.mark.parametrize("name", ['it\'s "quoted"; --', "ünï 🙂", "a/b?c=d", "x" * 64])
def test_a_saved_filter_can_have_any_name_and_value(store: Store, name: str) -> None:
    saved = SavedFilter(name, (("property.channel", name), ("property.channel", "\0")), 1)
    store.saved_filters.save_filter(saved)
    assert store.reader.saved_filters() == [saved]
