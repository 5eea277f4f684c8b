"""Makes scenes without end: the daily business of the cast.

They come from seeded chance, so that everybody sees the same callers say the same things; only the clock decides how
their requests interleave.
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from relaybook_demo.samples import conversations, personas, questions
from relaybook_demo.samples.conversations import Conversation
from relaybook_demo.samples.personas import App
from relaybook_demo.samples.questions import Question
from relaybook_demo.samples.scenario import (
    BROKEN_OFF,
    FAILED_INSIDE,
    HANGS_UP,
    IMPATIENT,
    OVERLOADED,
    RATE_LIMITED,
    RETRIED,
    SLOW,
    UNKNOWN_MODEL,
    WRONG_KEY,
    Scenario,
)

_STREAMED: Final = 0.6
#: How often something goes wrong in the daily business, and what: the first more often than the last.
_MISHAP: Final = 0.15
_MISHAPS: Final = (RATE_LIMITED, HANGS_UP, RETRIED, SLOW, BROKEN_OFF, OVERLOADED, IMPATIENT, FAILED_INSIDE)
_WEIGHTS: Final = (6, 5, 4, 4, 3, 2, 2, 1)


def single(
    app: App, namespace: str, question: Question, chance: random.Random, headers: dict[str, str] | None = None
) -> Scenario:
    """One question of a program."""
    return Scenario(
        app=app,
        namespace=namespace,
        turns=(question.text,),
        model=question.model,
        parameters=question.parameters,
        headers=headers or {},
        tool=question.tool,
        streamed=chance.random() < _STREAMED and "response_format" not in question.parameters,
    )


def in_production(question: Question, chance: random.Random) -> Scenario:
    """One question of the tea shop's programs; some are traced, and all name their prompt cache."""
    headers = personas.properties(chance, question.feature) | (personas.traced(chance) if chance.random() < 0.4 else {})
    scenario = single(personas.SHOP, "production", question, chance, headers)
    return replace(scenario, parameters={**scenario.parameters, "prompt_cache_key": f"{question.feature}-v7"})


def in_staging(question: Question, chance: random.Random) -> Scenario:
    """The same from the shop's next version."""
    return single(
        personas.TRIAL, "staging", question, chance, personas.properties(chance, question.feature, personas.BETA)
    )


def visit(conversation: Conversation, person: str, chance: random.Random) -> Scenario:
    """A customer's conversation, under a namespace of their own."""
    order = personas.order_number(chance)
    parameters = personas.account_of(person)
    if chance.random() < 0.3:
        parameters |= {"store": True, "metadata": {"ticket": f"T-{chance.randrange(20_000, 30_000)}", "tier": "gold"}}
    return Scenario(
        app=personas.SHOP,
        namespace=person,
        turns=tuple(turn.replace("{order}", order) for turn in conversation.turns),
        model=conversation.model,
        parameters={**parameters, "temperature": 0.4},
        headers=personas.properties(chance, conversation.feature),
        tool=conversation.tool,
        streamed=chance.random() < _STREAMED,
    )


def customers(chance: random.Random) -> Iterator[Scenario]:
    """Conversations of people."""
    everybody = personas.dealt_forever(personas.people(chance), chance)
    for conversation in personas.dealt_forever(conversations.ALL, chance):
        yield visit(conversation, conversation.person or next(everybody), chance)


def shop(chance: random.Random) -> Iterator[Scenario]:
    """The tea shop's programs in production."""
    for number in itertools.count(2093):
        for question in chance.sample(questions.FOR_THE_SHOP, len(questions.FOR_THE_SHOP)):
            yield in_production(question, chance)
        yield replace(searching(chance), streamed=chance.random() < _STREAMED)
        letter = Question(f"Draft a letter to the customer with the open invoice {number}.", "checkout")
        yield single(
            personas.SHOP,
            "production",
            letter,
            chance,
            personas.properties(chance, "checkout") | {"Service-Log": "no-bodies"},
        )


def searching(chance: random.Random) -> Scenario:
    """The shop's search, which has moved on to the responses interface."""
    return Scenario(
        app=personas.SHOP,
        namespace="production",
        turns=("Rewrite as search terms: something warm without caffeine",),
        kind="responses",
        model="gpt-4.1-mini",
        headers=personas.properties(chance, "search"),
    )


def daybook(chance: random.Random) -> Iterator[Scenario]:
    """Another program, which names its channel as the namespace."""
    for question in personas.dealt_forever(questions.FOR_DAYBOOK, chance):
        yield single(personas.PLANNER, chance.choice(personas.CHANNELS), question, chance)


def trials(chance: random.Random) -> Iterator[Scenario]:
    """What is tried out, and fails more often: the shop's next version, and developers at their desks."""
    for number, question in enumerate(personas.dealt_forever(questions.FOR_THE_SHOP[:8], chance)):
        accident = RATE_LIMITED if chance.random() < 0.2 else None
        yield replace(in_staging(question, chance), accident=accident)
        if number % 2:
            code = chance.choice(questions.FOR_DEVELOPERS)
            wrong = chance.choice((UNKNOWN_MODEL, WRONG_KEY)) if chance.random() < 0.3 else None
            yield replace(single(personas.WORKSHOP, "development", code, chance), accident=wrong)


def scripts() -> Iterator[Scenario]:
    """A script that nobody gave a namespace."""
    vectors = Scenario(
        app=personas.SCRIPT,
        namespace=None,
        turns=questions.PRODUCTS,
        kind="embeddings",
        model="text-embedding-3-small",
        directives={"Sim-Delay-Ms": "140"},
    )
    return itertools.cycle((vectors, replace(vectors, turns=(), kind="models")))


def long_answers(chance: random.Random) -> Iterator[Scenario]:
    """Streams of half a minute and more."""
    for question in personas.dealt_forever(questions.LONG, chance):
        if question.feature:
            scenario = in_production(question, chance)
        else:
            scenario = single(personas.PLANNER, chance.choice(personas.CHANNELS), question, chance)
        slowly = {"Sim-First-Token-Ms": "800", "Sim-Tokens-Per-Second": f"{chance.uniform(14, 20):.0f}"}
        yield replace(scenario, streamed=True, directives=slowly)


def with_mishaps(scenes: Iterator[Scenario], chance: random.Random) -> Iterator[Scenario]:
    """The same scenes; now and then something goes wrong in one."""
    for scenario in scenes:
        if scenario.kind == "chat" and scenario.accident is None and chance.random() < _MISHAP:
            accident = chance.choices(_MISHAPS, _WEIGHTS)[0]
            scenario = replace(scenario, accident=accident, accident_at=chance.randrange(len(scenario.turns)))
        yield scenario
