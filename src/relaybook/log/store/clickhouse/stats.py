"""Compute aggregates over time from the table ``requests``."""

from typing import Final

from relaybook.log.aggregate.aggregates import MAX_TOKENS, Aggregates
from relaybook.log.aggregate.stats import MAX_GROUPS, Points, Stats, StatsQuery, build, groups_of, span_of
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.matching import condition_of
from relaybook.log.store.clickhouse.retention import CHART_FIELDS
from relaybook.log.store.errors import DeadlinePassed

#: The bin of a duration, as ``aggregates.bin_of`` computes it.
_BIN: Final = "toInt32(if(ifNull({0}, 0) > 0.001, floor(log2({0} * 1000) * 8), 0))"
_DISTRIBUTION: Final = f"sumMapIf(map(assumeNotNull({_BIN}), toUInt64(1)), {{0}} IS NOT NULL)"
_AGGREGATES: Final = f"""
count(), countIf(r.failed), sum(least(ifNull(r.input_tokens, 0), {MAX_TOKENS})),
sum(least(ifNull(r.output_tokens, 0), {MAX_TOKENS})), toFloat64(sum(toDecimal128(ifNull(r.cost_usd, 0), 15))),
count(r.cost_usd), {_DISTRIBUTION.format("r.duration_ms")}, {_DISTRIBUTION.format("r.first_token_ms")}
"""
#: The latest label of each request, by id.
_LABELS: Final = """
LEFT JOIN (
  SELECT id, argMax(label, (at, source)) AS latest_label FROM feedback FINAL WHERE label IS NOT NULL GROUP BY id
) AS f ON f.id = r.id
"""


def stats(database: Database, question: StatsQuery, last: int, deadline_ns: int) -> Stats:
    """Return aggregates. The values of the largest groups are found first; all others are one group. Raises
    DeadlinePassed."""
    began_us = None
    if question.from_us is None:
        ((began_us,),) = database.query("SELECT minOrNull(started_at) FROM requests", deadline_ns=deadline_ns)
    span = span_of(question, began_us)
    matching = condition_of(
        database, question.filter_, last, deadline_ns, with_removed=_is_kept_of_removed_requests(question)
    )
    if not matching.is_complete:
        raise DeadlinePassed
    parameters = Parameters(matching.values)
    value = "NULL" if question.by is None else _value(question.by, parameters)
    source = (
        f"FROM requests AS r {_LABELS if question.by == 'label' else ''} "
        f"WHERE r.started_at >= {span.from_us} AND r.started_at < {span.to_us} AND {matching.sql}"
    )
    largest = (
        f"SELECT {value} AS value {source} GROUP BY value "
        f"ORDER BY count() DESC, value IS NULL, value LIMIT {MAX_GROUPS}"
    )
    values = [row[0] for row in database.query(largest, parameters.values, deadline_ns=deadline_ns)]
    # Of several groups without a value, one is of requests without a value, and one of all groups that are not largest.
    chosen = parameters.add(values, "Array(Nullable(String))")
    sql = (
        f"SELECT indexOf({chosen}, {value}) AS slot, intDiv(r.started_at, {span.bucket_us}) * {span.bucket_us} AS at, "
        f"{_AGGREGATES} {source} GROUP BY slot, at ORDER BY at"
    )
    slots: dict[int, Points] = {}
    for slot, at, *aggregates in database.query(sql, parameters.values, deadline_ns=deadline_ns):
        slots.setdefault(slot, {})[at] = Aggregates(*aggregates)
    other = groups_of({None: slots.pop(0)}) if 0 in slots else []
    return build(span, groups_of({values[slot - 1]: points for slot, points in slots.items()}), "log", other)


def _is_kept_of_removed_requests(question: StatsQuery) -> bool:
    """Return whether charts count removed requests: as in other stores, only if they depend on at most one field."""
    terms = question.filter_.terms
    fields = {term.name for term in terms} | ({question.by} if question.by else set())
    is_simple = len(fields) <= 1 and len(terms) <= 1 and not any(term.negated or term.prefixes for term in terms)
    return is_simple and fields <= set(CHART_FIELDS)


def _value(by: str, parameters: Parameters) -> str:
    """Return the expression for the value by which requests are grouped."""
    if by == "label":
        return "f.latest_label"
    if by.startswith("property."):
        name = parameters.add(by.removeprefix("property."))
        return f"if(mapContains(r.properties, {name}), r.properties[{name}], NULL)"
    return f"r.`{by}`"
