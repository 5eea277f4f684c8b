"""All stores: the number of finished requests that a filter selects."""

from tests.conformance.stores.conftest import Store
from tests.support.records import a_record, an_entry, soon

from relaybook.log.namespaces import LabelChange
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.port import Count, Running


def count(store, *terms):
    return store.reader.count(Filter(tuple(Term(name, values) for name, values in terms)), soon())


def test_an_empty_log_has_none(store: Store) -> None:
    assert count(store) == Count()
    assert count(store, ("namespace", ("a",))) == Count()
    assert count(store, ("model", ("gpt-5",))) == Count()


def test_the_whole_log_and_namespaces_are_counted(store: Store) -> None:
    store.commit(an_entry(namespace="a", started_at=50, failed=True), an_entry(namespace="b", started_at=70))
    store.commit(an_entry(namespace="a", started_at=40), an_entry(namespace="c", started_at=60, failed=True))
    store.labels.change(LabelChange(namespace="empty", pinned=True))
    assert count(store) == Count(requests=4, failed=2, last_at=70)
    assert count(store, ("namespace", ("a",))) == Count(requests=2, failed=1, last_at=50)
    assert count(store, ("namespace", ("a", "c", "a", "empty"))) == Count(requests=3, failed=2, last_at=60)
    assert count(store, ("namespace", ("empty",))) == count(store, ("namespace", ("nobody",))) == Count()


def test_a_record_selected_by_several_values_counts_once(store: Store) -> None:
    store.commit(an_entry(namespace="a", model="m"), an_entry(namespace="a", model=None))
    assert count(store, ("model", ("m", "m", "n"))).requests == 1
    assert count(store, ("namespace", ("a", "a")), ("from", ("0",))).requests == 2


def test_the_latest_start_need_not_be_the_last_recorded(store: Store) -> None:
    store.commit(*(an_entry(model="m", started_at=at) for at in (10, 9000, 30)))
    store.commit(*(an_entry(model="m", started_at=at) for at in range(3000)))
    assert count(store, ("model", ("m",))) == Count(requests=3003, last_at=9000)
    assert count(store, ("model", ("m",)), ("kind", ("chat",))).last_at == 9000
    assert count(store, ("model", ("m",)), ("from", ("1000",))) == Count(requests=2001, last_at=9000)


def test_a_time_range_is_counted_exactly(store: Store) -> None:
    store.commit(*(an_entry(namespace="ab"[at % 2], started_at=at, failed=at % 5 == 0) for at in range(4000)))
    found = count(store, ("from", ("1000",)), ("to", ("3000",)))
    assert found == Count(requests=2000, failed=400, last_at=2999)
    found = count(store, ("namespace", ("a",)), ("from", ("999",)), ("to", ("3002",)))
    assert found == Count(requests=1001, failed=201, last_at=3000)


def test_running_requests_are_not_counted(store: Store) -> None:
    store.commit(running=[Running(record=a_record(outcome="open", model="m"))])
    assert count(store) == count(store, ("model", ("m",))) == Count()
