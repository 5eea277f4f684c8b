"""Generate queries on the big log with 200 different values of each kind.

The values are drawn from the same distributions as the records, without reading the log.
"""

import random
from collections.abc import Iterator
from itertools import cycle, product
from typing import Final, NamedTuple, get_args
from urllib.parse import quote, urlencode

from benchmarks.big_log.entries import ticket_of
from benchmarks.big_log.facts import LONG_THREAD_NAMESPACE, Facts, Recipe
from benchmarks.big_log.words import CHANNELS, FEATURES, LABELS, MODELS, USER_WEIGHTS, USERS, Words, user_name
from relaybook.clock import format_timestamp
from relaybook.log.query.filters import SORT_FIELDS, Cursor
from relaybook.log.record import Outcome

DIFFERENT: Final = 200
_PAGE: Final = 50
_DEEP_PAGES: Final = 10_000
_THREAD_TIMES: Final = 20
_PAGE_MS, _FILTERED_MS, _LIST_MS, _ID_MS = 10.0, 15.0, 20.0, 5.0
_STATS_MS, _WORD_MS, _THREAD_MS, _TOP_MS = 100.0, 50.0, 300.0, 100.0
_HOUR_US: Final = 3_600_000_000


class Question(NamedTuple):
    """Paths of the same query with different values. With ``may_be_missing``, the statuses 404 and 400 are accepted."""

    name: str
    goal_ms: float | None
    paths: list[str]
    may_be_missing: bool = False


def questions(recipe: Recipe, first_seq: int, last_seq: int) -> list[Question]:
    """Return all queries for a log with records from ``first_seq`` to ``last_seq``."""
    values = Values(recipe)
    requests = "/api/requests?limit=50"
    facts, cursors = values.complete(), values.cursors(first_seq, last_seq)
    spans = [f"/api/stats?from=-{hours}h&bucket=3600&by=namespace" for hours in range(720, 720 - DIFFERENT, -1)]
    sorts = [(sort, limit) for sort in ("last_at", "requests", "failed", "cost_usd") for limit in range(1, 51)]
    return [
        Question("no store access (`/healthz`)", None, ["/healthz"] * DIFFERENT),
        Question("newest page", _PAGE_MS, [requests] * DIFFERENT),
        Question("page by namespace", _FILTERED_MS, [f"{requests}&namespace={each}" for each in values.namespaces()]),
        Question("page by property", _FILTERED_MS, [f"{requests}&{urlencode(each)}" for each in values.properties()]),
        Question("page by model and outcome", _FILTERED_MS, [f"{requests}&{urlencode(it)}" for it in values.models()]),
        Question("page 10,000 or deeper", _PAGE_MS, [f"{requests}&cursor={at}" for at in cursors]),
        Question("namespaces", _LIST_MS, [f"/api/namespaces?sort={sort}&limit={limit}" for sort, limit in sorts]),
        Question("namespaces by prefix", _LIST_MS, [f"/api/namespaces?prefix={each}" for each in values.prefixes()]),
        Question("values of model", _LIST_MS, [f"/api/values/model?limit={n}" for n in range(1, DIFFERENT + 1)]),
        Question("users by prefix", _LIST_MS, [f"/api/values/property.user?prefix={it}" for it in values.prefixes()]),
        Question("request by Relaybook id", _ID_MS, [f"/api/requests/{each.id}" for each in facts]),
        Question("request by upstream id", _ID_MS, [f"/api/requests/{each.provider_request_id}" for each in facts]),
        Question("request by completion id", _ID_MS, [f"/api/requests/{each.completion_id}" for each in facts]),
        Question("request by client id", _ID_MS, [f"/api/requests/{each.client_request_id}" for each in facts]),
        Question("30 days of statistics by hour", _STATS_MS, spans, True),
        Question("top 200 of a day", _TOP_MS, [f"/api/requests?{urlencode(each)}" for each in values.days()]),
        Question(
            "top 200 of a day and a namespace",
            _TOP_MS,
            [f"/api/requests?{urlencode(it)}" for it in values.label_days()],
        ),
        Question("top 200 of the log", None, [f"/api/requests?sort={field}" for field in SORT_FIELDS] * 4),
        Question("word search", _WORD_MS, [f"{requests}&q={quote(each)}" for each in values.words()], True),
        Question("thread of 500", _THREAD_MS, [f"/api/thread?namespace={LONG_THREAD_NAMESPACE}"] * _THREAD_TIMES, True),
    ]


class Values:
    """Draws values that occur in the recipe's log. The values of a list are unique."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._facts = recipe.facts()
        self._chance = random.Random(recipe.seed + 1)

    def _users(self) -> Iterator[str]:
        while True:
            yield from map(user_name, self._chance.choices(range(USERS), cum_weights=USER_WEIGHTS, k=DIFFERENT))

    def _filled(self, first: list[str], more: Iterator[str]) -> list[str]:
        found = dict.fromkeys(first)
        while len(found) < DIFFERENT:
            found.setdefault(next(more))
        values = list(found)
        self._chance.shuffle(values)
        return values

    def _numbers(self) -> Iterator[tuple[int, Facts]]:
        while True:
            number = self._chance.randrange(self._recipe.records)
            yield number, self._facts(number)

    def namespaces(self) -> list[str]:
        """Return all labels and some users."""
        return self._filled(list(LABELS), self._users())

    def properties(self) -> list[dict[str, str]]:
        """Return all channels, all features and some users, as properties."""
        few = [f"channel={each}" for each in CHANNELS] + [f"feature={each}" for each in FEATURES]
        pairs = [each.split("=") for each in self._filled(few, (f"user={user}" for user in self._users()))]
        return [{f"property.{name}": value} for name, value in pairs]

    def models(self) -> list[dict[str, str]]:
        """Return every model with every outcome of a finished request. Some combinations occur often, some never."""
        outcomes = [each for each in get_args(Outcome) if each != "open"]
        found = [{"model": model.name, "outcome": outcome} for model, outcome in product(MODELS, outcomes)]
        self._chance.shuffle(found)
        return found[:DIFFERENT]

    def cursors(self, first_seq: int, last_seq: int) -> list[Cursor]:
        """Return cursors from page 10,000 on, or from the middle of a smaller log."""
        page = (last_seq - first_seq) * _PAGE // self._recipe.records
        top = last_seq - _DEEP_PAGES * page
        middle = (first_seq + last_seq) // 2
        return [Cursor("older", self._chance.randint(first_seq + page, max(top, middle))) for _ in range(DIFFERENT)]

    def days(self) -> list[dict[str, str]]:
        """Return the 24 hours before each of the last 200 full hours, each with a sort field."""
        ends = (self._recipe.ends_at - hour * _HOUR_US for hour in range(DIFFERENT))
        return [
            {"sort": field, "from": format_timestamp(end - 24 * _HOUR_US), "to": format_timestamp(end)}
            for field, end in zip(cycle(SORT_FIELDS), ends, strict=False)
        ]

    def label_days(self) -> list[dict[str, str]]:
        """Return the same days with a label."""
        return [day | {"namespace": label} for day, label in zip(self.days(), cycle(LABELS), strict=False)]

    def prefixes(self) -> list[str]:
        """Return prefixes of user ids, with one to five digits."""
        cut = (user[: len("user-") + self._chance.randint(1, 5)] for user in self._users())
        return self._filled([], cut)

    def words(self) -> list[str]:
        """Return words, drawn as often as they occur in sentences. One in ten words occurs in only one request."""
        tickets = [word for word, _ in zip(self._tickets(), range(DIFFERENT // 10), strict=False)]
        known = Words(self._recipe.seed)
        drawn = iter(lambda: self._chance.choices(known.vocabulary, cum_weights=known.weights)[0], "")
        return self._filled(tickets, drawn)

    def _tickets(self) -> Iterator[str]:
        for number, facts in self._numbers():
            if number not in self._recipe.long_thread and (ticket := ticket_of(facts)):
                yield ticket

    def complete(self) -> list[Facts]:
        """Return successful requests, which have all ids."""
        return [facts for (_, facts), _ in zip(self._well(), range(DIFFERENT), strict=False)]

    def _well(self) -> Iterator[tuple[int, Facts]]:
        return (each for each in self._numbers() if each[1].ending.is_well)
