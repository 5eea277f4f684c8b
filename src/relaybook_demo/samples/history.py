"""The scenes of the first seconds: every namespace in order, then everything that a log can show, once."""

import random
from dataclasses import replace

from relaybook_demo.samples import conversations, personas, questions
from relaybook_demo.samples.conversations import OTHER_LANGUAGES, Conversation
from relaybook_demo.samples.questions import Question
from relaybook_demo.samples.scenario import (
    BROKEN_OFF,
    HANGS_UP,
    RATE_LIMITED,
    RETRIED,
    SLOW,
    UNKNOWN_MODEL,
    WRONG_KEY,
    Accident,
    Scenario,
)
from relaybook_demo.samples.scenarios import in_production, in_staging, scripts, searching, single, visit


def opening(chance: random.Random) -> list[Scenario]:
    """The first request of every namespace that is no person's, in the order in which a page is to show them."""
    saturday = Question("When are you open on Saturday?", "support")
    at_home = (questions.HAIKU, Question("Tell me a joke about teapots."), Question("Hello!"))
    return [
        in_production(saturday, chance),
        in_staging(saturday, chance),
        single(personas.WORKSHOP, "development", questions.CHUNKS, chance),
        *(
            single(personas.PLANNER, channel, question, chance)
            for channel, question in zip(personas.CHANNELS, at_home, strict=True)
        ),
        next(scripts()),
    ]


def history(chance: random.Random) -> list[Scenario]:
    """About thirty requests more, in no order."""
    by_people: list[tuple[str, Conversation, int]] = [
        ("user-8f3a41c9", conversations.REFUND, 3),
        ("maria@example.com", conversations.TEA_FOR_THE_EVENING, 4),
        ("+4915228817386", conversations.REFUND_LOOKED_UP, 2),
        ("3f1b8c52-6d0e-4a7b-9c1f-52e8a0d4b7c3", conversations.OUTDOOR_TASTING, 2),
        *((each.person, each, 3) for each in OTHER_LANGUAGES if each.person is not None),
    ]
    by_programs: list[tuple[Question, Accident | None]] = [
        (questions.TICKET, None),
        (questions.PICTURE, None),
        (questions.REASONED, None),
        (questions.CUT, None),
        (questions.CONTRACT, RETRIED),
        (questions.GREEN_TEAS, HANGS_UP),
        (questions.REVIEW, BROKEN_OFF),
        (questions.NIGHT_GARDEN, SLOW),
    ]
    visits = [visit(conversation, person, chance) for person, conversation, _ in by_people]
    return [
        *(
            replace(scenario, turns=scenario.turns[:turns])
            for scenario, (_, _, turns) in zip(visits, by_people, strict=True)
        ),
        *(replace(in_production(question, chance), accident=accident) for question, accident in by_programs),
        replace(in_staging(questions.TICKET, chance), accident=RATE_LIMITED),
        replace(single(personas.WORKSHOP, "development", questions.SQL, chance), accident=UNKNOWN_MODEL),
        replace(single(personas.WORKSHOP, "development", questions.CHUNKS, chance), accident=WRONG_KEY),
        single(personas.PLANNER, "iOS", questions.BAKERY, chance),
        single(personas.PLANNER, "web", questions.HAMBURG, chance),
        searching(chance),
    ]
