"""Test that an asker with a scope answers as the log of only the requests in scope would, whatever is asked."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import StreamingResponse
from tests.support.api_log import START_US, app_of, client_of, entry_of, open_of, record_of
from tests.support.asgi import scope_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.api import live
from relaybook.api.broadcaster import Broadcaster
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.ask.asker import Asker, Changes
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.scope import Scope
from relaybook.log.deletions import Deletion
from relaybook.log.export.export import FILE_FORMATS, ExportQuery
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import BadFilter, Filter, Sort, Term
from relaybook.log.query.parameters import parse_filter
from relaybook.log.query.term_values import LISTED_FIELDS
from relaybook.log.query.words import SearchText
from relaybook.log.record import Feedback, Note, Record
from relaybook.log.rereads import Reread
from relaybook.log.saved_filters import SavedFilter
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Batch, Running

NAMESPACES = ("prod", "staging", "team-a", "team-b", "te", "canary")
FILTERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("namespace", "prod"),),
    (("namespace", "canary"),),
    (("not.namespace", "prod"),),
    (("namespace_prefix", "te"),),
    (("begins.namespace", "team-"), ("namespace", "prod")),
    (("model", "m1"),),
    (("failed", "true"), ("model", "m2")),
    (("property.user", "u1"),),
    (("words", "hello"),),
    (("label", "good"),),
    (("from", "2026-01-01T05:00:00Z"),),
)
FIELDS = (*LISTED_FIELDS, "property.user")
STATS_BY = (None, "namespace", "model", "outcome", "label", "property.user")
SCOPES = (("prod",), ("team-*",), ("prod", "te*"), ("team-a", "staging"), ("nobody",), ())


class Ask(msgspec.Struct):
    """What a question may be about."""

    random: Random
    filter: Filter
    ids: list[str]
    foreign_ids: list[str]

    def limit(self) -> int:
        return self.random.choice((1, 2, 5, 100))

    def sort(self) -> Sort:
        return Sort(self.random.choice(("cost_usd", "duration_ms")), self.random.random() < 0.5)

    def id(self) -> str:
        return self.random.choice([*self.ids, *self.foreign_ids, "nobody"])


def every_page(page_of: Callable[[Any], Any], cursor_of: Callable[[Any], Any]) -> list[Any]:
    """Return all pages of a list, one after the other."""
    pages = [page_of(None)]
    while (cursor := cursor_of(pages[-1])) is not None:
        pages.append(page_of(cursor))
    return pages


def thread(asker: Asker, ask: Ask) -> Any:
    name = ask.random.choice(NAMESPACES)
    term = ask.random.choice((Term("namespace", (name,)), Term("property.user", ("u1",))))
    return asker.thread(Filter((term,)), ask.limit(), around=ask.random.choice((None, ask.id())))


def lanes(asker: Asker, ask: Ask) -> Any:
    name = ask.random.choice(NAMESPACES)
    term = ask.random.choice((Term("namespace", (name,)), Term("session", ("s1",))))
    return asker.lanes(ask.random.choice((ask.id(), Filter((term,)))))


def thread_cache(asker: Asker, ask: Ask) -> Any:
    filter_ = Filter((Term("namespace", (ask.random.choice(NAMESPACES),)),))
    return asker.thread_cache(filter_, ask.limit(), around=ask.random.choice((None, ask.id())))


def stats(asker: Asker, ask: Ask) -> Any:
    begin = ask.random.choice((None, START_US, START_US + 7 * 3_600_000_000))
    terms = tuple(term for term in ask.filter.terms if term.name != "from")
    query = StatsQuery(
        filter_=Filter(terms), from_us=begin, to_us=START_US + 26 * 3_600_000_000, by=ask.random.choice(STATS_BY)
    )
    return asker.stats(query)


def export(asker: Asker, ask: Ask) -> Any:
    name = ask.random.choice(("jsonl", "csv", "chat"))
    query = ExportQuery(file_format=FILE_FORMATS[name], filter_=ask.filter, bodies=name == "jsonl", end=True)
    data = b"".join(asker.export(query).chunks()).decode()
    return (
        re.sub(r'"(seq|color|position)":\d+', "", data)
        if name == "jsonl"
        else [line.split(",")[0] for line in data.splitlines()]
    )


def view(asker: Asker, ask: Ask) -> Any:
    found = asker.view(ask.id())
    return found.record.id, None if found.is_running else b"".join(found.transferred("request") or ())


def namespaces(asker: Asker, ask: Ask) -> Any:
    sort = ask.random.choice(("last_at", "requests", "failed", "cost_usd"))
    limit, prefix = ask.limit(), ask.random.choice(("", "te", "c"))
    query = NamespaceQuery(text=prefix, sort=sort, pinned=ask.random.choice((None, True, False)))
    pages = every_page(lambda cursor: asker.namespaces(query, limit, cursor), lambda page: page.next_cursor)
    # colors and positions are given in the order in which namespaces are pinned
    return [msgspec.structs.replace(row, color=None, position=None) for page in pages for row in page.data]


def page(asker: Asker, ask: Ask) -> Any:
    found = asker.page(ask.filter, 100)
    return msgspec.structs.replace(found, likely_values=msgspec.UNSET)


def status(asker: Asker, ask: Ask) -> Any:
    found = asker.status()
    return found.records, found.namespaces, found.labels, found.feedback, found.refused, found.oldest_at


def request_times(asker: Asker, ask: Ask) -> Any:
    return dict(asker.request_times(ask.random.choice(((), ("team-*",), ("prod", "t*", "canary")))))


def since(asker: Asker, ask: Ask) -> Any:
    return asker.since(0, ask.filter, 500)[0]


def completions(asker: Asker, ask: Ask) -> Any:
    known = asker.completions()
    return [*known.list_values(ask.random.choice(FIELDS), ""), *known.find(ask.random.choice(("e", "tea")))]


def give_feedback(asker: Asker, ask: Ask) -> Any:
    return asker.give_feedback(ask.random.choice(ask.ids), feedback(ask.random, "later"))


def change_label(asker: Asker, ask: Ask) -> Any:
    change = LabelChange(namespace=ask.random.choice(NAMESPACES), pinned=ask.random.random() < 0.5)
    return msgspec.structs.replace(asker.change_label(change), color=None, position=None)


def save_filter(asker: Asker, ask: Ask) -> Any:
    name, params = ask.random.choice(("a", "b", "new")), ask.random.choice(FILTERS[1:])
    return asker.save_filter(SavedFilter(name, params, START_US))


#: For each method of an asker: what to ask.
QUESTIONS: dict[str, Callable[[Asker, Ask], Any]] = {
    "page": page,
    "around": lambda asker, ask: asker.around(ask.random.choice(ask.ids), ask.filter, ask.limit()),
    "top": lambda asker, ask: asker.top(ask.filter, ask.sort(), ask.limit()),
    "detail": lambda asker, ask: asker.detail(ask.id()),
    "media": lambda asker, ask: asker.media(ask.id(), "request", 0, 0),
    "view": view,
    "progress": lambda asker, ask: asker.progress(ask.id()),
    "compare": lambda asker, ask: asker.compare(ask.id(), ask.id()),
    "last_good": lambda asker, ask: asker.last_good(ask.id()),
    "thread": thread,
    "lanes": lanes,
    "cache": lambda asker, ask: asker.cache(ask.id()),
    "thread_cache": thread_cache,
    "export": export,
    "replayable": lambda asker, ask: asker.replayable(ask.filter).data,
    "count": lambda asker, ask: asker.count(ask.filter),
    "count_exactly": lambda asker, ask: asker.count_exactly(ask.filter),
    "stats": stats,
    "values": lambda asker, ask: asker.values(ask.random.choice(FIELDS), ask.random.choice(("", "t")), ask.limit()),
    "find_values": lambda asker, ask: asker.find_values(ask.random.choice(("e", "tea", "ca")), 500),
    "completions": completions,
    "namespaces": namespaces,
    "saved_filters": lambda asker, ask: asker.saved_filters(),
    "feedback": lambda asker, ask: asker.feedback(ask.filter),
    "deletions": lambda asker, ask: asker.deletions(ask.limit()),
    "deletion": lambda asker, ask: [asker.deletion(each.id) for each in asker.deletions(100).data],
    "status": status,
    "gaps": lambda asker, ask: asker.gaps(),
    "request_times": request_times,
    "oldest_aggregates": lambda asker, ask: asker.oldest_aggregates(),
    "since": since,
    "running": lambda asker, ask: asker.running(ask.filter),
    "give_feedback": give_feedback,
    "change_label": change_label,
    "save_filter": save_filter,
    "delete_filter": lambda asker, ask: asker.delete_filter(ask.random.choice(("a", "b", "c"))),
    "delete": lambda asker, ask: asker.delete(ask.filter, asker.count(ask.filter).requests, "me"),
    "improvable": lambda asker, ask: asker.improvable(),
    "rereads": lambda asker, ask: asker.rereads(ask.limit()),
    "find_reread": lambda asker, ask: [asker.find_reread(each.id) for each in asker.rereads(100).data],
    "reread": lambda asker, ask: asker.reread(ask.filter, "me"),
    "delete_one": lambda asker, ask: asker.delete_one(ask.random.choice(ask.ids), "me"),
}
#: Positions in the log, which are those of the whole log.
POSITIONS = {"last_seq", "indexed_to"}
#: Without a scope, these create what does not exist. In a scope, it is an error.
CREATING = {"give_feedback", "change_label", "save_filter"}


def test_every_question_has_a_case() -> None:
    methods = {name for name, _ in inspect.getmembers(Asker, inspect.isfunction) if not name.startswith("_")}
    assert methods == QUESTIONS.keys() | POSITIONS


def feedback(random: Random, source: str) -> Feedback:
    return Feedback(source=source, at=START_US, score=random.choice((1.0, -1.0, None)), label="good")


def record(random: Random, number: int) -> Record:
    started_at = START_US + number * 3_600_000_000
    return record_of(
        number,
        started_at=started_at,
        ended_at=started_at + 1_000_000,
        namespace=random.choice(NAMESPACES),
        model=random.choice(("m1", "m2", None)),
        user=random.choice(("ann", "bob", None)),
        session=random.choice(("s1", "s2", None)),
        key=random.choice(("k1", "k2")),
        finish_reason=random.choice(("stop", "length")),
        failed=random.random() < 0.3,
        properties=random.choice(({}, {"user": "u1"}, {"user": "u2", "tier": "gold"})),
        cost_usd=random.choice((None, 0.5, 1.5)),
        duration_ms=float(random.randrange(5)),
        completion_id=f"c{random.randrange(4)}",
        notes=[Note("not_json", "HTML")] if random.random() < 0.3 else [],
        feedback=[feedback(random, "first")] if random.random() < 0.3 else [],
    )


def entries(random: Random, count: int) -> Iterator[Entry]:
    for number in range(count):
        system = b'{"role": "system", "content": "%b"}' % (b"Be brief. " * 30)
        body = b'{"messages": [%b, {"role": "user", "content": "hello %d"}]}' % (system, random.randrange(3))
        yield entry_of(record(random, number), body, b"{}")


class Log:
    """A log, and how its users have changed it."""

    def __init__(self, scope: Scope, seed: int, count: int) -> None:
        """Build the same log for a seed, with only the requests in scope, and only the changes about them."""
        random = Random(seed)
        self.store = MemoryStore()
        all_entries = list(entries(random, count))
        running: list[Running] = [open_of(100 + number, namespace=random.choice(NAMESPACES)) for number in range(4)]
        self.ids = [entry.record.id for entry in all_entries] + [each.record.id for each in running]
        visible = [entry for entry in all_entries if scope.includes(entry.record.namespace)]
        self.store.commit(
            Batch(entries=visible, running=[each for each in running if scope.includes(each.record.namespace)])
        )
        self.store.add([(entry.record.seq or 0, SearchText("hello")) for entry in visible], self.store.last_seq())
        for name in ("a", "b", "c"):
            saved = SavedFilter(name, random.choice(FILTERS[1:]), START_US)
            if scope.covers(parse_filter(saved.params, clock.wall_us())):
                self.store.save_filter(saved)
        for number in range(5):
            requested = parse_filter(random.choice(FILTERS[1:]), START_US)
            if scope.covers(requested):
                deletion = Deletion(
                    id=f"d{number}", requested_at=START_US, requested_by="x", filter_=requested, requests=1
                )
                self.store._deletions.append(deletion)
                self.store._rereads.append(
                    Reread(id=f"r{number}", requested_at=START_US, requested_by="x", filter_=requested, requests=1)
                )

    def asker(self, scope: Scope) -> Asker:
        changes = Changes(*[self.store] * 5)
        return Asker(self.store, clock.monotonic_ns() + 60 * clock.NANOSECONDS, changes, scope)


def answer(asker: Asker, name: str, ask: Ask) -> Any:
    try:
        found = QUESTIONS[name](asker, ask)
    except AskError as error:
        return error.code, error.field, error.requests
    except (BadFilter, DeadlinePassed) as error:
        return str(error)
    return without_positions(msgspec.to_builtins(found))


def without_positions(value: Any) -> Any:
    """Leave out positions, which are those of the whole log, and what differs between two deletions or rereads."""
    if isinstance(value, dict):
        hidden = {"seq", "next_cursor", "newer_cursor"}
        if "requested_by" in value:  # a deletion or reread: its filter has the scope, too
            hidden |= {"id", "requested_at", "filter"}
        return {name: None if name in hidden else without_positions(item) for name, item in value.items()}
    return [without_positions(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", QUESTIONS)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 25), patterns=st.sampled_from(SCOPES))
def test_an_answer_is_that_of_a_log_with_only_the_requests_in_scope(
    name: str, seed: int, count: int, patterns: tuple[str, ...]
) -> None:
    scope = Scope.of(patterns)
    whole, part = Log(Scope.ALL, seed, count), Log(scope, seed, count)

    def ask() -> Ask:
        random = Random(seed)
        filter_ = parse_filter(random.choice(FILTERS), START_US)
        return Ask(random, filter_, whole.ids, ["c1", "c2"])

    expected = answer(part.asker(Scope.ALL), name, ask())
    found = answer(whole.asker(scope), name, ask())
    if name in CREATING and isinstance(found, tuple):
        assert found[0] in ("not_found", "bad_body", "bad_parameter")
    else:
        assert found == expected


# The API: no response has anything from outside the scope.

CANARY = "canary-7f3a"
CANARY_ID = "00000000-0000-7000-8000-00000000cafe"


def canary_log() -> MemoryStore:
    """Return a log with two requests in scope, and everything about requests that are not."""
    store = MemoryStore()
    hidden = record_of(
        9,
        id=CANARY_ID,
        namespace=CANARY,
        model=CANARY,
        user=CANARY,
        key=CANARY,
        completion_id=CANARY,
        properties={CANARY: CANARY},
        input_preview=CANARY,
        error_message=CANARY,
        feedback=[Feedback(source=CANARY, at=START_US, score=1.0, label=CANARY)],
    )
    running = open_of(10, namespace=CANARY, model=CANARY)
    store.commit(
        Batch(
            entries=[
                entry_of(record_of(1, namespace="prod")),
                entry_of(hidden, CANARY.encode(), CANARY.encode()),
                entry_of(record_of(2, namespace="prod")),
            ],
            running=[running],
            refused={CANARY: 3},
        )
    )
    store.add([(1, SearchText("hello")), (2, SearchText(CANARY)), (3, SearchText("hello"))], 3)
    store.save_filter(SavedFilter(CANARY, (("namespace", CANARY),), START_US))
    store.save_filter(SavedFilter("mixed", (("property.x", CANARY),), START_US))
    store.request(parse_filter((("namespace", CANARY),), START_US), 1, CANARY)
    return store


#: Values for the parameters in paths: of a request in scope, and of the hidden one.
IN_PATHS = (record_of(1).id, CANARY_ID, "model", "property", "namespace", "label", "user", "key", "prod")


def test_no_response_of_the_api_has_anything_from_outside_the_scope() -> None:
    client = client_of(canary_log(), scope=Scope.of(["prod"]))
    whole = client_of(canary_log())
    document = whole.get("/openapi.json").json()
    asked = leaks_without_scope = 0
    for path, methods in document["paths"].items():
        if "get" not in methods or path in ("/api/live", "/openapi.json"):
            continue
        queries = ["", "?format=jsonl&bodies=true", "?format=csv", "?by=namespace", "?by=model", "?namespace=prod"]
        queries += ["?pinned=true&from=2026-01-01T00:00:00Z", "?sort=duration_ms", f"?around={CANARY_ID}"]
        queries.append(f"?a={IN_PATHS[0]}&b={CANARY_ID}")
        queries += [f"?words={CANARY[:3]}", "?begins.namespace=c", "?contains=ca", "?q=names", "?q=namespace:"]
        for value in IN_PATHS if "{" in path else ("",):
            for query in queries:
                target = re.sub(r"\{[^}]*\}", value, path) + query
                response = client.get(target)
                # an error repeats what was asked, but nothing else
                text = response.body.decode("utf-8", "replace").replace(CANARY_ID, "")
                assert CANARY not in text, target
                asked += response.status == 200
                leaks_without_scope += CANARY in whole.get(target).body.decode("utf-8", "replace")
    assert asked > 60
    assert leaks_without_scope > 20


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", f"/api/requests/{CANARY_ID}", None),
        ("DELETE", f"/api/requests?namespace={CANARY}&confirm=1", None),
        ("DELETE", f"/api/saved-filters/{CANARY}", None),
        ("PUT", f"/api/saved-filters/{CANARY}", {"params": [["namespace", "prod"]]}),
        ("PUT", "/api/saved-filters/x", {"params": [["model", "m"]]}),
        ("PATCH", "/api/namespaces", {"namespace": CANARY, "pinned": False}),
        ("POST", f"/api/requests/{CANARY_ID}/feedback", {"score": 1}),
        ("POST", f"/api/requests/{CANARY}/feedback", {"score": 1}),
    ],
)
def test_nothing_outside_the_scope_can_be_changed(method: str, path: str, body: Any) -> None:
    store = canary_log()
    before = msgspec.json.encode([store.entries(0, 9, 99), store.saved_filters(), store._labels])
    json = ("content-type", "application/json")
    sent = b"" if body is None else msgspec.json.encode(body)
    response = client_of(store, scope=Scope.of(["prod"])).request(method, path, json, body=sent)
    assert response.status >= 400
    after = [store.entries(0, 9, 99), store.saved_filters(), store._labels]
    assert msgspec.json.encode(after) == before
    assert len(store.deletions(9)) == 1


@pytest.mark.parametrize("query", ["", "words=hello"])
def test_live_rows_are_only_those_in_scope(query: str) -> None:
    store = canary_log()
    app = app_of(store, scope=Scope.of(["prod"]), poll_seconds=0.005, ping_seconds=0.01)
    app.state.broadcaster = Broadcaster(partial(Asker, store), poll_seconds=0.005)  # it reads the whole log for all

    async def read() -> bytes:
        scope = scope_of("GET", f"/api/live?{query}", [("Last-Event-ID", "0")]) | {"app": app}
        response = await live.stream_requests(Request(scope))
        events = cast(StreamingResponse, response).body_iterator
        received = cast(bytes, await anext(events))
        new = [record_of(5, namespace=CANARY, model=CANARY), record_of(6, namespace="prod")]
        store.commit(Batch(entries=[entry_of(each) for each in new], running=[open_of(7, namespace=CANARY)]))
        store.add([(4, SearchText(f"hello {CANARY}")), (5, SearchText("hello"))], 5)
        async with asyncio.timeout(20):
            while record_of(6).id.encode() not in received:
                received += cast(bytes, await anext(events))
        app.state.broadcaster.close()
        return received

    assert CANARY.encode() not in asyncio.run(read())
