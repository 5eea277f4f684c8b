"""Build the scenarios for the first seconds of the demo.

``opening`` has one scenario per namespace, and ``history`` has scenarios for each kind of log entry.
"""

import random
from dataclasses import replace

from relaybook_demo.samples import conversations, personas, questions
from relaybook_demo.samples.conversations import OTHER_LANGUAGES, Conversation
from relaybook_demo.samples.questions import Question
from relaybook_demo.samples.scenario import (
    CLIENT_CANCELS,
    CONNECTION_RESET,
    RATE_LIMITED,
    RETRIED,
    SLOW,
    UNKNOWN_MODEL,
    WRONG_KEY,
    Fault,
    Scenario,
)
from relaybook_demo.samples.scenarios import (
    customer_scenario,
    production_scenario,
    scripts,
    search_scenario,
    single_question,
    staging_scenario,
)


def opening(rng: random.Random) -> list[Scenario]:
    """Return a scenario with the first request of every namespace.

    The scenarios are in the order in which the dashboard should show their namespaces. The namespaces of customers are
    omitted.
    """
    saturday = Question("When are you open on Saturday?", "support")
    at_home = (questions.HAIKU, Question("Tell me a joke about teapots."), Question("Hello!"))
    return [
        production_scenario(saturday, rng),
        staging_scenario(saturday, rng),
        single_question(personas.WORKSHOP, "development", questions.CHUNKS, rng),
        *(
            single_question(personas.PLANNER, channel, question, rng)
            for channel, question in zip(personas.CHANNELS, at_home, strict=True)
        ),
        next(scripts()),
    ]


def history(rng: random.Random) -> list[Scenario]:
    """Return about twenty scenarios to run after the scenarios of ``opening``, in no particular order."""
    customer_conversations: list[tuple[str, Conversation, int]] = [
        ("user-8f3a41c9", conversations.REFUND, 3),
        ("maria@example.com", conversations.TEA_FOR_THE_EVENING, 4),
        ("+4915228817386", conversations.REFUND_LOOKED_UP, 2),
        ("3f1b8c52-6d0e-4a7b-9c1f-52e8a0d4b7c3", conversations.OUTDOOR_TASTING, 2),
        *((each.person, each, 3) for each in OTHER_LANGUAGES if each.person is not None),
    ]
    program_questions: list[tuple[Question, Fault | None]] = [
        (questions.TICKET, None),
        (questions.PICTURE, None),
        (questions.REASONED, None),
        (questions.CUT, None),
        (questions.CONTRACT, RETRIED),
        (questions.GREEN_TEAS, CLIENT_CANCELS),
        (questions.REVIEW, CONNECTION_RESET),
        (questions.NIGHT_GARDEN, SLOW),
    ]
    customer_scenarios = [
        customer_scenario(conversation, person, rng) for person, conversation, _ in customer_conversations
    ]
    return [
        *(
            replace(scenario, turns=scenario.turns[:turns])
            for scenario, (_, _, turns) in zip(customer_scenarios, customer_conversations, strict=True)
        ),
        *(replace(production_scenario(question, rng), fault=fault) for question, fault in program_questions),
        replace(staging_scenario(questions.TICKET, rng), fault=RATE_LIMITED),
        replace(single_question(personas.WORKSHOP, "development", questions.SQL, rng), fault=UNKNOWN_MODEL),
        replace(single_question(personas.WORKSHOP, "development", questions.CHUNKS, rng), fault=WRONG_KEY),
        single_question(personas.PLANNER, "iOS", questions.BAKERY, rng),
        single_question(personas.PLANNER, "web", questions.HAMBURG, rng),
        search_scenario(rng),
    ]
