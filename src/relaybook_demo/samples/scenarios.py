"""Generate endless scenarios of everyday traffic.

The random generators are seeded, so every demo sends the same requests. Only the interleaving of requests depends on
time.
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
    CLIENT_CANCELS,
    CLIENT_TIMEOUT,
    CONNECTION_RESET,
    ERROR_IN_STREAM,
    OVERLOADED,
    RATE_LIMITED,
    RETRIED,
    SLOW,
    UNKNOWN_MODEL,
    WRONG_KEY,
    Scenario,
)

_STREAM_PROBABILITY: Final = 0.6
#: The probability that ``with_faults`` adds a fault to a scenario.
_FAULT_PROBABILITY: Final = 0.15
#: The faults that ``with_faults`` adds. ``_FAULT_WEIGHTS`` has their weights for the random choice, in the same order.
_FAULTS: Final = (
    RATE_LIMITED,
    CLIENT_CANCELS,
    RETRIED,
    SLOW,
    CONNECTION_RESET,
    OVERLOADED,
    CLIENT_TIMEOUT,
    ERROR_IN_STREAM,
)
_FAULT_WEIGHTS: Final = (6, 5, 4, 4, 3, 2, 2, 1)


def single_question(
    app: App, namespace: str, question: Question, rng: random.Random, headers: dict[str, str] | None = None
) -> Scenario:
    """Return a scenario in which a program asks one question."""
    return Scenario(
        app=app,
        namespace=namespace,
        turns=(question.text,),
        model=question.model,
        parameters=question.parameters,
        headers=headers or {},
        tool=question.tool,
        streamed=rng.random() < _STREAM_PROBABILITY and "response_format" not in question.parameters,
    )


def production_scenario(question: Question, rng: random.Random) -> Scenario:
    """Return a scenario in which the tea shop asks one question in production.

    All requests set a prompt cache key, and some requests have a trace id.
    """
    headers = personas.properties(rng, question.feature) | (personas.trace_headers(rng) if rng.random() < 0.4 else {})
    scenario = single_question(personas.SHOP, "production", question, rng, headers)
    return replace(scenario, parameters={**scenario.parameters, "prompt_cache_key": f"{question.feature}-v7"})


def staging_scenario(question: Question, rng: random.Random) -> Scenario:
    """Return a scenario in staging, in which the tea shop's beta version asks one question."""
    return single_question(
        personas.STAGING_SHOP, "staging", question, rng, personas.properties(rng, question.feature, personas.BETA)
    )


def customer_scenario(conversation: Conversation, person: str, rng: random.Random) -> Scenario:
    """Return a conversation with a customer. The customer's id is the namespace."""
    order = personas.order_number(rng)
    parameters = personas.account_parameters(person)
    if rng.random() < 0.3:
        parameters |= {"store": True, "metadata": {"ticket": f"T-{rng.randrange(20_000, 30_000)}", "tier": "gold"}}
    return Scenario(
        app=personas.SHOP,
        namespace=person,
        turns=tuple(turn.replace("{order}", order) for turn in conversation.turns),
        model=conversation.model,
        parameters={**parameters, "temperature": 0.4},
        headers=personas.properties(rng, conversation.feature),
        tool=conversation.tool,
        streamed=rng.random() < _STREAM_PROBABILITY,
    )


def customers(rng: random.Random) -> Iterator[Scenario]:
    """Yield conversations with customers."""
    people = personas.shuffled_forever(personas.people(rng), rng)
    for conversation in personas.shuffled_forever(conversations.ALL, rng):
        yield customer_scenario(conversation, conversation.person or next(people), rng)


def shop(rng: random.Random) -> Iterator[Scenario]:
    """Yield requests from the tea shop's programs in production."""
    for number in itertools.count(2093):
        for question in rng.sample(questions.FOR_THE_SHOP, len(questions.FOR_THE_SHOP)):
            yield production_scenario(question, rng)
        yield replace(search_scenario(rng), streamed=rng.random() < _STREAM_PROBABILITY)
        letter = Question(f"Draft a letter to the customer with the open invoice {number}.", "checkout")
        yield single_question(
            personas.SHOP,
            "production",
            letter,
            rng,
            personas.properties(rng, "checkout") | {"Service-Log": "no-bodies"},
        )


def search_scenario(rng: random.Random) -> Scenario:
    """Return a request from the shop's search, made with the Responses API."""
    return Scenario(
        app=personas.SHOP,
        namespace="production",
        turns=("Rewrite as search terms: something warm without caffeine",),
        kind="responses",
        model="gpt-4.1-mini",
        headers=personas.properties(rng, "search"),
    )


def daybook(rng: random.Random) -> Iterator[Scenario]:
    """Yield questions from another program, which uses its channels as namespaces."""
    for question in personas.shuffled_forever(questions.FOR_DAYBOOK, rng):
        yield single_question(personas.PLANNER, rng.choice(personas.CHANNELS), question, rng)


def experiments(rng: random.Random) -> Iterator[Scenario]:
    """Yield requests from the shop's next version and from developers. These requests fail more often."""
    for number, question in enumerate(personas.shuffled_forever(questions.FOR_THE_SHOP[:8], rng)):
        fault = RATE_LIMITED if rng.random() < 0.2 else None
        yield replace(staging_scenario(question, rng), fault=fault)
        if number % 2:
            code = rng.choice(questions.FOR_DEVELOPERS)
            developer_fault = rng.choice((UNKNOWN_MODEL, WRONG_KEY)) if rng.random() < 0.3 else None
            yield replace(single_question(personas.WORKSHOP, "development", code, rng), fault=developer_fault)


def scripts() -> Iterator[Scenario]:
    """Yield requests from a script that sets no namespace."""
    vectors = Scenario(
        app=personas.SCRIPT,
        namespace=None,
        turns=questions.PRODUCTS,
        kind="embeddings",
        model="text-embedding-3-small",
        directives={"Sim-Delay-Ms": "140"},
    )
    return itertools.cycle((vectors, replace(vectors, turns=(), kind="models")))


def long_responses(rng: random.Random) -> Iterator[Scenario]:
    """Yield scenarios whose streamed responses take half a minute or more."""
    for question in personas.shuffled_forever(questions.LONG, rng):
        if question.feature:
            scenario = production_scenario(question, rng)
        else:
            scenario = single_question(personas.PLANNER, rng.choice(personas.CHANNELS), question, rng)
        directives = {"Sim-First-Token-Ms": "800", "Sim-Tokens-Per-Second": f"{rng.uniform(14, 20):.0f}"}
        yield replace(scenario, streamed=True, directives=directives)


def with_faults(scenarios: Iterator[Scenario], rng: random.Random) -> Iterator[Scenario]:
    """Yield the same scenarios, but add a fault to some scenarios."""
    for scenario in scenarios:
        if scenario.kind == "chat" and scenario.fault is None and rng.random() < _FAULT_PROBABILITY:
            fault = rng.choices(_FAULTS, _FAULT_WEIGHTS)[0]
            scenario = replace(scenario, fault=fault, fault_turn=rng.randrange(len(scenario.turns)))
        yield scenario
