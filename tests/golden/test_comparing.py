"""Compare the golden exchanges, which have bodies of all formats and all kinds of damage."""

from itertools import islice, pairwise

import msgspec
import pytest
from tests.golden.exchanges import exchanges
from tests.golden.facts import entry_of

from relaybook.cli.diff import report
from relaybook.cli.wrapping import width_of
from relaybook.log.comparison.comparison import compare
from relaybook.log.request_view import RequestView
from relaybook.log.row import to_json

Views = list[tuple[str, RequestView]]


@pytest.fixture(scope="module")
def views() -> Views:
    """Return every third exchange."""
    return [(exchange.name, RequestView.of_entry(entry_of(exchange))) for exchange in islice(exchanges(), 0, None, 3)]


def test_an_exchange_is_equal_to_itself(views: Views) -> None:
    assert [
        name for name, view in views if False in (compare(view, view).same_request, compare(view, view).same_response)
    ] == []


def test_the_report_about_any_two_exchanges_fits_in_80_columns(views: Views) -> None:
    for (name, a), (other, b) in pairwise(views):
        found = compare(a, b)
        rows = {"a": to_json(a.record), "b": to_json(b.record), "summary": found.summary}
        lines = report(msgspec.json.decode(msgspec.json.encode(rows | found._asdict()))).splitlines()
        assert max(map(width_of, lines)) <= 80, (name, other)
