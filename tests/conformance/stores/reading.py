"""Create requests from earlier days, and read everything that a store derives from its requests."""

from typing import Any, Final

from tests.conformance.stores.conftest import Store
from tests.support.records import A_TIMESTAMP, an_entry

from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter, Sort, Term
from relaybook.log.retention import DAY_US
from relaybook.log.store.port import Reader

FAR: Final = 2**62
MIDNIGHT: Final = A_TIMESTAMP - A_TIMESTAMP % DAY_US
EVERYTHING: Final = Filter()


def a_request(days_ago: int, **fields: Any) -> Any:
    started_at = MIDNIGHT - days_ago * DAY_US + 3_600_000_000
    return an_entry(
        b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "prompt of day %d"}]}' % days_ago,
        b'{"choices": [{"message": {"role": "assistant", "content": "response of day %d"}}]}' % days_ago,
        started_at=started_at,
        ended_at=started_at + 812_000,
        input_preview=f"prompt of day {days_ago}",
        output_preview=f"response of day {days_ago}",
        **fields,
    )


def page(store: Store) -> list[Any]:
    return store.reader.page(EVERYTHING, 10_000, None, FAR).records


def derived(reader: Reader) -> dict[str, Any]:
    """Return everything that readers see in the whole log, except sequence numbers and aggregates over time."""
    filters = {
        "all": EVERYTHING,
        "namespace": Filter((Term("namespace", ("production",)),)),
        "model": Filter((Term("model", ("gpt-4o",)),)),
        "status": Filter((Term("status", ("429",)),)),
        "failed": Filter((Term("failed", ("true",)),)),
        "property": Filter((Term("property.channel", ("ios",)),)),
        "time": Filter((Term("from", (str(MIDNIGHT - DAY_US),)),)),
    }
    fields = ("namespace", "model", "user", "session", "property", "property.channel", "finish_reason")
    return {
        **{name: reader.count(filter_, FAR) for name, filter_ in filters.items()},
        **{f"page {name}": [each.id for each in reader.page(filter_, 10_000, None, FAR).records]
           for name, filter_ in filters.items()},
        **{f"values {field}": reader.values(field, "", 1000, FAR) for field in fields},
        **{
            f"namespaces {sort}": [
                (row.namespace, row.requests, row.failed, row.input_tokens, row.cost_usd, row.first_at, row.last_at)
                for row in reader.namespaces(NamespaceQuery(pinned=False, sort=sort), 1000, None, FAR)[0]
            ]
            for sort in ("last_at", "requests", "cost_usd")
        },
        "links": [(each.id, each.session, each.chain, each.model)
                  for each in reader.links(EVERYTHING, 10_000, None, FAR)],
        "top": [each.id for each in reader.top(EVERYTHING, Sort("duration_ms"), 10, FAR).records],
    }  # fmt: skip
