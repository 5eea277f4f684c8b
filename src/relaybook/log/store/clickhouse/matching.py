"""Turn a filter into one SQL condition.

If the filter has substrings, the requests are found first. The condition then lists their ``seq``.
"""

import sys
from typing import NamedTuple

from relaybook.log.query.filters import CONTAINS, Filter
from relaybook.log.store.clickhouse.connection import Database, Parameters, Values
from relaybook.log.store.clickhouse.filter_sql import condition
from relaybook.log.store.clickhouse.substrings import containing, extended


class Matching(NamedTuple):
    """A condition on ``requests AS r`` with its values.

    The search for substrings begins with the newest requests. ``is_complete`` is False if the deadline ended this
    search. The condition then matches only requests that the search reached. ``deadline_ns`` is the deadline for
    queries with the condition.
    """

    sql: str
    values: Values
    is_complete: bool
    deadline_ns: int


def matching_of(
    database: Database, filter_: Filter, last: int, deadline_ns: int, *, with_removed: bool = False
) -> Matching:
    """Return the condition for the requests that match the filter.

    Substrings are searched only in requests whose ``seq`` is at most ``last``. A filter without substrings has no such
    limit. With ``with_removed``, the condition also matches removed requests, which keep the data for charts.
    """
    parameters = Parameters()
    if all(term.name != CONTAINS for term in filter_.terms):
        sql = condition(filter_, parameters, with_removed=with_removed)
        return Matching(sql, parameters.values, is_complete=True, deadline_ns=deadline_ns)
    found = containing(database, filter_, (1, last), sys.maxsize, deadline_ns, newest_first=True)
    is_complete = found.reached is None
    return Matching(
        f"r.seq IN ({', '.join(map(str, found.seqs)) or '-1'})",
        {},
        is_complete=is_complete,
        deadline_ns=deadline_ns if is_complete else extended(deadline_ns),
    )
