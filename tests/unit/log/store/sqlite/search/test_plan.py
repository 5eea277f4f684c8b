"""Test which index or scan each query plan uses. Only plans for ids or for few scores may sort records."""

import apsw
import pytest
from tests.support.records import a_record

from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Note
from relaybook.log.store.sqlite.index.counters import ADD_NAMESPACES, ADD_VALUES, namespace_counters, value_counters
from relaybook.log.store.sqlite.schema import create_tables
from relaybook.log.store.sqlite.search.plan import Plan, make_plan

WITHIN = (1, 1_000_000)


@pytest.fixture
def connection() -> apsw.Connection:
    """Return the counters and the feedback of a log in which `rare` is rare. The log has no records."""
    made = apsw.Connection(":memory:")
    create_tables(made, "it")
    note = [Note("value_cut", "…")]
    records = [a_record(properties={"channel": "ios"}, user="u") for _ in range(50)]
    records += [a_record(namespace="rare/1", model="rare", status=429, failed=True, warnings=note) for _ in range(2)]
    records += [a_record(namespace="rare/2", outcome="client_closed", status=503, failed=True)]
    records += [a_record(finish_reason=reasons) for reasons in ("stop,length", "tool_calls")]
    records += [a_record(stream_ended=end) for end in ("done", "cut")]
    records += [a_record(cost_reason="no_price")]
    made.executemany(ADD_NAMESPACES, namespace_counters(records))
    made.executemany(ADD_VALUES, value_counters(records))
    for seq in range(1, 31):
        scores = (1.0, -1.0) if seq % 10 == 0 else (1.0, None)
        rows = [(seq, source, score, "good", 7) for source, score in zip(("judge", "users"), scores, strict=True)]
        made.executemany("INSERT INTO feedback (seq, source, score, label, at) VALUES (?, ?, ?, ?, ?)", rows)
    return made


def plan(connection: apsw.Connection, *terms: Term) -> Plan:
    return make_plan(connection, Filter(terms), WITHIN)


def explained(connection: apsw.Connection, made: Plan) -> str:
    rows = connection.execute(f"EXPLAIN QUERY PLAN {made.sql(True)}", (*made.bindings(WITHIN), 5))
    return "; ".join(str(detail) for *_, detail in rows)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Term("namespace", ("production",)), "requests_namespace"),
        (Term("namespace", ("production", "rare/1")), "requests_namespace"),
        (Term("namespace", (), prefixes=("rare/",)), "requests_namespace"),
        (Term("model", ("rare",)), "requests_model"),
        (Term("user", ("u", "v")), "requests_user"),
        (Term("session", ("s",)), "requests_session"),
        (Term("key", ("k",)), "requests_key"),
        (Term("failed", ("true",)), "requests_failed"),
        (Term("status", ("error",)), "requests_failed"),
        (Term("status", ("429",)), "requests_status"),
        (Term("status", ("4xx", "5xx")), "requests_status"),
        (Term("outcome", ("client_closed", "refused")), "requests_outcome"),
        (Term("kind", ("embedding",)), "requests_kind"),
        (Term("finish_reason", ("length", "tool_calls")), "requests_finish"),
        (Term("model", ("gpt-5",), prefixes=("ra",)), "requests_model"),
        (Term("property.channel", (), prefixes=("io",)), "SEARCH d USING PRIMARY KEY"),
        (Term("id", ("x",)), "requests_id"),
        (Term("warning", ("value_cut",)), "SEARCH d USING PRIMARY KEY"),
        (Term("note", ("not_json",)), "SEARCH d USING PRIMARY KEY"),
        (Term("stream_ended", ("cut", "no_done")), "requests_stream_end"),
        (Term("cost_reason", ("no_price", "no_usage")), "requests_cost_reason"),
        (Term("cost_reason", ("any",)), "requests_cost_reason"),
        (Term("warning", ("any", "value_cut")), "SEARCH d USING PRIMARY KEY"),
        (Term("property.channel", ("ios", "web")), "SEARCH d USING PRIMARY KEY"),
        (Term("feedback", ("any",)), "SEARCH d USING PRIMARY KEY"),
        (Term("label", ("good",)), "feedback_label"),
        (Term("label", ("bad",), prefixes=("go",)), "feedback_label"),
        (Term("score", ("=1.0",)), "feedback_score"),
    ],
)
def test_an_index_drives_the_scan_without_sorting(connection: apsw.Connection, term: Term, expected: str) -> None:
    made = plan(connection, term)
    steps = explained(connection, made)
    assert expected in steps
    if term.name != "id":
        assert "TEMP B-TREE" not in steps
    assert "SCAN" not in steps
    assert made.residual.sql == "1"


@pytest.mark.parametrize(
    "term",
    [
        Term("kind", ("chat",)),
        Term("stream_ended", ("cut", "done")),
        Term("failed", ("false",)),
        Term("status", ("200", "429")),
        Term("status", ("error", "404")),
        Term("outcome", ("complete", "refused")),
        Term("model", ("rare",), negated=True),
        Term("namespace", (), negated=True, prefixes=("",)),
    ],
)
def test_a_condition_without_an_index_scans_the_log(connection: apsw.Connection, term: Term) -> None:
    made = plan(connection, term)
    assert "SEARCH r USING INTEGER PRIMARY KEY" in explained(connection, made)
    assert made.residual.sql != "1"


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (("rate_limited",), ["requests_failed"]),
        (("not_found",), ["requests_failed"]),
        (("rate_limited", "error_in_response"), ["requests_failed"]),
        (("incomplete", "unexpected_body"), ["requests_failed"]),
        (("client_disconnected",), ["requests_outcome"]),
        (("upstream_timeout", "upstream_reset"), ["requests_outcome"]),
        (("truncated",), ["requests_finish"]),
        (("rate_limited", "refused", "tool_calls"), ["requests_failed", "requests_outcome", "requests_finish"]),
    ],
)
def test_an_index_finds_candidates_for_a_result_and_each_candidate_is_checked(
    connection: apsw.Connection, results: tuple[str, ...], expected: list[str]
) -> None:
    made = plan(connection, Term("result", results))
    steps = explained(connection, made)
    assert all(index in steps for index in expected)
    assert "SCAN" not in steps
    assert "r.failed" in made.residual.sql


@pytest.mark.parametrize("results", [("complete",), ("complete", "rate_limited")])
def test_a_complete_result_scans_the_log(connection: apsw.Connection, results: tuple[str, ...]) -> None:
    assert "SEARCH r USING INTEGER PRIMARY KEY" in explained(connection, plan(connection, Term("result", results)))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_most_selective_condition_drives_and_the_others_are_checked(
    connection: apsw.Connection, swapped: bool
) -> None:
    terms = [Term("namespace", ("production",)), Term("model", ("rare",)), Term("property.channel", ("ios",))]
    made = plan(connection, *(terms[::-1] if swapped else terms))
    assert "requests_model" in made.scans[0].source
    assert "namespace" in made.residual.sql
    assert "properties" in made.residual.sql


def test_a_status_class_scans_the_statuses_that_occur(connection: apsw.Connection) -> None:
    made = plan(connection, Term("status", ("4xx", "5xx")))
    assert [scan.condition.bindings for scan in made.scans] == [(429,), (503,)]
    assert plan(connection, Term("status", ("418",))).scans[0].condition.sql == "0"


@pytest.mark.parametrize(
    ("term", "is_known"),
    [
        (Term("namespace", ("production",)), True),
        (Term("namespace", ("production", "rare/1")), True),
        (Term("model", ("rare",)), True),
        (Term("property.channel", ("ios",)), True),
        (Term("failed", ("true",)), True),
        (Term("warning", ("value_cut",)), True),
        (Term("feedback", ("any",)), True),
        (Term("label", ("good",)), True),
        (Term("score", ("<0.0",)), True),
        (Term("kind", ("chat",)), False),
        (Term("feedback", ("none",)), False),
        (Term("model", ("rare",), negated=True), False),
    ],
)
def test_records_are_counted_from_covering_indexes_where_possible(
    connection: apsw.Connection, term: Term, is_known: bool
) -> None:
    made = plan(connection, term)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {made.count_sql()}", made.bindings(WITHIN))
    steps = [str(detail) for *_, detail in rows if "SEARCH" in str(detail)]
    assert made.is_index_only == is_known
    assert all("COVERING INDEX" in step or "SEARCH d USING PRIMARY KEY" in step for step in steps) == is_known


@pytest.mark.parametrize(
    ("term", "records"),
    [
        (Term("feedback", ("any",)), 30),
        (Term("label", ("good",)), 30),
        (Term("label", ("good",), prefixes=("x",)), 30),
        (Term("score", (">0.0",)), 30),
        (Term("score", ("<0.0",)), 3),
        (Term("score", (">7.0",)), 0),
    ],
)
def test_the_plan_knows_the_number_of_requests_with_feedback(
    connection: apsw.Connection, term: Term, records: int
) -> None:
    assert plan(connection, term).estimate == records


@pytest.fixture
def many_scores(connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> apsw.Connection:
    """Lower the limits of the plan: 10 requests with a score are many, and 4 different scores are too many."""
    monkeypatch.setattr("relaybook.log.store.sqlite.search.plan._FEW_SCORES", 9)
    monkeypatch.setattr("relaybook.log.store.sqlite.search.plan._MAX_EXPANDED", 3)
    rows = [(seq, seq / 10, 7) for seq in range(100, 120)]
    connection.executemany("INSERT INTO feedback (seq, source, score, at) VALUES (?, 'judge', ?, ?)", rows)
    return connection


def found(connection: apsw.Connection, made: Plan) -> list[int]:
    return [seq for (seq,) in connection.execute(made.count_sql().replace("count(*)", "*"), made.bindings(WITHIN))]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((">11.0",), list(range(111, 120))),
        (("<-0.5", "=10.5"), [10, 20, 30, 105]),
        (("=7.0",), []),
    ],
)
def test_few_requests_with_a_score_are_read_from_the_index(
    many_scores: apsw.Connection, values: tuple[str, ...], expected: list[int]
) -> None:
    made = plan(many_scores, Term("score", values))
    assert sorted(found(many_scores, made)) == expected
    assert made.estimate == len(expected)
    assert len(made.scans) == len(values)
    assert "feedback_score" in explained(many_scores, made)


@pytest.mark.parametrize("values", [("<2.0",), ("<=2.0", "=10.5"), ("=1.0", "=-1.0", "=10.5")])
def test_many_requests_with_few_different_scores_are_read_score_by_score(
    many_scores: apsw.Connection, values: tuple[str, ...]
) -> None:
    made = plan(many_scores, Term("score", values))
    steps = explained(many_scores, made)
    assert "feedback_score" in steps
    assert "TEMP B-TREE" not in steps
    assert {scan.condition.sql for scan in made.scans} == {"d.score = ?"}
    assert sorted(found(many_scores, made)) == [*range(1, 31), *([105] if "=10.5" in values else [])]
    assert made.estimate == 50


def test_many_requests_with_many_different_scores_are_found_in_all_feedback(many_scores: apsw.Connection) -> None:
    made = plan(many_scores, Term("score", (">10.0",)))
    steps = explained(many_scores, made)
    assert "SEARCH d USING PRIMARY KEY" in steps
    assert "TEMP B-TREE" not in steps
    assert found(many_scores, made) == list(range(101, 120))


def test_failures_of_a_namespace_are_counted_from_one_index(connection: apsw.Connection) -> None:
    made = plan(connection, Term("namespace", ("production",)), Term("failed", ("true",)), Term("model", ("rare",)))
    assert "requests_failed" in made.scans[0].source
    rows = connection.execute(f"EXPLAIN QUERY PLAN {made.count_sql()}", made.bindings(WITHIN))
    assert any("COVERING INDEX requests_failed" in str(detail) for *_, detail in rows)
