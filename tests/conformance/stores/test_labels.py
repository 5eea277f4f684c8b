"""All stores: users pin and unpin namespaces, and the log pins a limited number of namespaces automatically."""

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry, soon

from relaybook.log.namespaces import MAX_AUTO_PINNED, LabelChange, NamespaceQuery, NotPinned
from relaybook.log.query.filters import Filter


def rows(store, pinned=None):
    return {row.namespace: row for row in store.reader.namespaces(NamespaceQuery(pinned=pinned), 500, None, soon())[0]}


def shown(row):
    return row.pinned, row.color, row.group, row.position


def change(store, namespace, **fields):
    return store.labels.change(LabelChange(namespace=namespace, **fields))


NOT_PINNED = (False, None, None, None)
#: These namespaces look like ids, so the log does not pin them automatically.
USER, OTHER = "user-1234", "user-5678"


def test_a_change_is_visible_to_all_and_can_be_undone(store: Store) -> None:
    store.commit(an_entry(namespace=USER), an_entry(namespace=OTHER))
    changed = change(store, USER, pinned=True, color=3, group="Mine", position=7)
    assert shown(changed) == (True, 3, "Mine", 7)
    store.restart()
    assert rows(store, pinned=True) == {USER: changed}
    assert list(rows(store, pinned=False)) == [OTHER]
    assert changed.requests == 1
    assert shown(change(store, USER, color=4)) == (True, 4, "Mine", 7)
    assert shown(change(store, USER, group=None)) == (True, 4, None, 7)
    assert shown(change(store, USER, pinned=False)) == NOT_PINNED
    assert rows(store, pinned=True) == {}
    assert rows(store)[USER].requests == 1
    assert shown(change(store, USER, pinned=True)) == (True, 1, None, 0)


def test_a_namespace_without_requests_can_be_a_label_and_is_then_listed(store: Store) -> None:
    store.commit(an_entry(namespace=OTHER))
    row = change(store, "new", pinned=True)
    assert (row.requests, row.failed, row.cost_usd, row.first_at, row.last_at) == (0, 0, None, 0, 0)
    assert list(rows(store, pinned=True)) == ["new"]
    assert set(rows(store)) == {"new", OTHER}
    assert [count.value for count in store.reader.values("namespace", "", 9, soon())] == [OTHER]
    change(store, "new", pinned=False)
    assert (set(rows(store)), set(rows(store, pinned=False))) == ({OTHER}, {OTHER})
    change(store, "new", pinned=True)
    store.commit(an_entry(namespace="new", started_at=77))
    (row,) = rows(store, pinned=True).values()
    assert (row.first_at, row.last_at, row.requests) == (77, 77, 1)


def test_labels_get_colors_and_positions_in_turn(store: Store) -> None:
    changed_rows = [change(store, name, pinned=True) for name in ("production", "ios", "checkout")]
    assert [shown(row) for row in changed_rows] == [
        (True, 1, "Environment", 0),
        (True, 2, "Channel", 1),
        (True, 3, None, 2),
    ]
    change(store, "production", pinned=False)
    assert shown(change(store, "web", pinned=True)) == (True, 1, "Channel", 3)


def test_an_invalid_change_changes_nothing(store: Store) -> None:
    store.commit(an_entry(namespace=USER))
    with pytest.raises(NotPinned):
        change(store, USER, color=3)
    with pytest.raises(NotPinned):
        change(store, "nobody", group="Mine")
    assert set(rows(store)) == {USER}
    assert store.reader.status().namespaces == 1


@pytest.mark.parametrize("name", ['it\'s "quoted"; --', "ünï 🙂", "a/b?c=d", " ", "x" * 256])
def test_a_label_can_have_any_name(store: Store, name: str) -> None:
    change(store, name, pinned=True)
    store.restart()
    assert list(rows(store, pinned=True)) == [name]


def test_a_new_log_pins_the_first_eight_names_that_do_not_look_like_ids(store: Store) -> None:
    store.commit(*(an_entry(namespace=name) for name in (USER, "production", "production", "iOS", "a@b")))
    assert {name: shown(row) for name, row in rows(store, pinned=True).items()} == {
        "production": (True, 1, "Environment", 0),
        "iOS": (True, 2, "Channel", 1),
    }
    for number in range(7):
        store.restart()
        store.commit(an_entry(namespace=f"app {number}"), an_entry(namespace="production"))
    assert len(rows(store, pinned=True)) == MAX_AUTO_PINNED
    assert shown(rows(store)["app 5"]) == (True, 8, None, 7)
    assert shown(rows(store)["app 6"]) == NOT_PINNED


def test_the_log_pins_only_eight_names_even_if_users_unpin_some(store: Store) -> None:
    store.commit(*(an_entry(namespace=f"app {number}") for number in range(20)))
    assert len(rows(store, pinned=True)) == MAX_AUTO_PINNED
    for name in rows(store, pinned=True):
        change(store, name, pinned=False)
    store.restart()
    store.commit(*(an_entry(namespace=f"later {number}") for number in range(20)))
    assert rows(store, pinned=True) == {}


def test_changes_by_users_are_kept(store: Store) -> None:
    store.commit(an_entry(namespace="staging"))
    change(store, "staging", pinned=False)
    change(store, "early", pinned=True, color=6)
    change(store, "never", pinned=False)
    store.restart()
    store.commit(*(an_entry(namespace=name) for name in ("staging", "early", "never", "next")))
    assert {name: shown(row) for name, row in rows(store).items()} == {
        "staging": NOT_PINNED,
        "early": (True, 6, None, 0),
        "never": NOT_PINNED,
        "next": (True, 1, None, 1),
    }


def test_an_entry_that_is_already_stored_pins_no_label(store: Store) -> None:
    entry = an_entry(namespace=USER)
    store.commit(entry)
    store.commit(an_entry(id=entry.record.id, namespace="production"), an_entry(namespace=OTHER))
    assert rows(store, pinned=True) == {}


def test_the_status_counts_namespaces_and_labels(store: Store) -> None:
    store.commit(an_entry(namespace=USER), an_entry(namespace=OTHER), an_entry(namespace="production"))
    store.commit(an_entry(namespace=OTHER))
    change(store, "later", pinned=True)
    change(store, USER, pinned=True)
    status = store.reader.status()
    assert (status.namespaces, status.labels) == (4, 3)
    assert store.reader.page(Filter(), 9, None, soon()).complete


def test_the_status_does_not_count_a_namespace_that_is_in_no_list(store: Store) -> None:
    change(store, "later", pinned=True)
    change(store, "later", pinned=False)
    assert rows(store) == {}
    assert store.reader.status().namespaces == 0
