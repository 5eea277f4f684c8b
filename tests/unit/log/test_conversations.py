"""Test how requests are grouped into conversations: continuations, branches and repeats."""

from random import Random

import pytest
from tests.support.bodies import reading_of, request_of

from relaybook.log.aggregate.stats import MINUTE_US
from relaybook.log.conversations import Position, positions_of
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.record import Keys, MessageChain, Origin, encode_chain
from relaybook.log.store.port import Link


def link(number: int, chain: MessageChain | None, completion_id: str | None = None, session: str | None = None) -> Link:
    return Link(
        seq=number,
        id=f"r{number}",
        started_at=number,
        failed=False,
        completion_id=completion_id,
        session=session,
        chain=None if chain is None else encode_chain(chain),
        model=None,
    )


def asks(
    key: int,
    messages: int = 1,
    answer: int = 0,
    *origins: Origin,
    window: int = 0,
    loose: int = 0,
    previous: str | None = None,
) -> MessageChain:
    return MessageChain(messages, key, [Keys(answer, window, loose)] if answer else [], list(origins), previous)


def origin(new_from: int, all_: int, window: int = 0, loose: int = 0) -> Origin:
    return Origin(new_from, Keys(all_, window, loose))


def of(*turns: MessageChain | None) -> dict[str, Position]:
    return positions_of(link(number, turn) for number, turn in enumerate(turns, 1))


def test_a_request_that_continues_no_other_starts_a_conversation() -> None:
    result = of(asks(1, 1, 10), asks(2, 2, 20))
    assert result["r1"] == Position("r1", 1, None, None, 0, 1)
    assert result["r2"] == Position("r2", 1, None, None, 0, 2)


def test_turns_follow_each_other() -> None:
    result = of(asks(1, 1, 10), asks(2, 3, 20, origin(2, 10)), asks(3, 5, 30, origin(4, 20), origin(2, 10)))
    assert result["r2"] == Position("r1", 2, "r1", None, 2, 3)
    assert result["r3"] == Position("r1", 3, "r2", None, 4, 5)


def test_the_latest_match_is_used() -> None:
    result = of(asks(1, 1, 10), asks(7, 1, 10), asks(2, 3, 20, origin(2, 10)))
    assert result["r2"].conversation == "r2"
    assert result["r3"].follows == "r2"


def test_a_match_by_all_messages_precedes_one_by_the_last_ones() -> None:
    result = of(asks(1, 3, 10, window=5), asks(2, 3, 99, window=5), asks(3, 5, 30, origin(4, 10, 5)))
    assert result["r3"].follows == "r1"
    result = of(asks(1, 3, 10, window=5), asks(3, 5, 30, origin(4, 77, 5)))
    assert result["r2"] == Position("r1", 2, "r1", None, 4, 5)


def test_a_match_by_the_ids_of_calls_comes_last() -> None:
    result = of(asks(1, 1, 10, loose=7), asks(3, 3, 30, origin(2, 77, 0, 7)))
    assert result["r2"] == Position("r1", 2, "r1", None, 2, 3)
    result = of(asks(1, 1, 10, window=5), asks(2, 1, 11, loose=7), asks(3, 3, 30, origin(2, 77, 5, 7)))
    assert result["r3"].follows == "r1"


def test_requests_without_calls_or_window_do_not_match_by_them() -> None:
    assert of(asks(1, 1, 10), asks(3, 3, 30, origin(2, 77)))["r2"].follows is None


def test_two_requests_can_continue_the_same_one() -> None:
    result = of(asks(1, 1, 10), asks(2, 3, 20, origin(2, 10)), asks(3, 3, 30, origin(2, 10)))
    assert (result["r2"].turn, result["r3"].turn) == (2, 2)
    assert result["r3"].conversation == "r1"


def test_a_request_with_the_same_messages_is_a_repeat() -> None:
    result = of(
        asks(1, 1, 10),
        asks(2, 3, 0, origin(2, 10)),
        asks(2, 3, 20, origin(2, 10)),
        asks(2, 3, 21, origin(2, 10)),
    )
    assert result["r3"] == Position("r1", 2, "r1", "r2", 2, 3)
    assert result["r4"] == Position("r1", 2, "r1", "r3", 2, 3)


def test_the_same_question_asked_again_later_starts_a_conversation() -> None:
    first, soon, late = (link(number, asks(1, 1, 10)) for number in (1, 2, 3))
    soon.started_at = first.started_at + 15 * MINUTE_US
    late.started_at = soon.started_at + 15 * MINUTE_US + 1
    result = positions_of([first, soon, late])
    assert result["r2"] == Position("r1", 1, None, "r1", 0, 1)
    assert result["r3"] == Position("r3", 1, None, None, 0, 1)


def test_repeated_requests_of_a_second_run_continue_that_run() -> None:
    """A script runs twice. In the second run, turn 2 continues turn 1 of the same run.

    Turn 1 of the second run repeats turn 1 of the first run.
    """
    run = (asks(1, 1, 10), asks(2, 3, 20, origin(2, 10)))
    result = of(*run, *run)
    assert result["r3"] == Position("r1", 1, None, "r1", 0, 1)
    assert result["r4"] == Position("r1", 2, "r3", "r2", 2, 3)


def test_a_named_response_is_continued() -> None:
    links = [link(1, asks(1, 1, 10), "resp_1"), link(2, asks(1, 1, 0, previous="resp_1"))]
    assert positions_of(links)["r2"] == Position("r1", 2, "r1", None, 0, 1)


def test_a_request_that_continues_a_named_response_is_not_repeated_by_a_request_with_equal_messages() -> None:
    links = [link(1, asks(1, 1, 10), "resp_1"), link(2, asks(2, previous="resp_1")), link(3, asks(2))]
    assert positions_of(links)["r3"] == Position("r3", 1, None, None, 0, 1)


@pytest.mark.parametrize("form", ["conv_1", {"id": "conv_1"}])
def test_a_request_continues_the_latest_request_of_its_conversation(form: object) -> None:
    def chain(conversation: object) -> MessageChain | None:
        return build_chain(request_of({"input": "continue", "conversation": conversation}, "response"), None)

    result = of(*[chain(conversation) for conversation in (form, "conv_2", form, form, None)])
    positions = [(each.conversation, each.turn, each.follows, each.repeats) for each in result.values()]
    assert positions == [
        ("r1", 1, None, None),
        ("r2", 1, None, None),
        ("r1", 2, "r1", None),
        ("r1", 3, "r3", None),
        ("r5", 1, None, None),
    ]


def test_two_sessions_with_the_same_first_prompt_are_two_conversations() -> None:
    first, second = asks(1, 1, 10), asks(2, 3, 20, origin(2, 10))
    turns = [("a", first), ("b", first), ("a", second), ("b", second)]
    result = positions_of(link(number, turn, session=name) for number, (name, turn) in enumerate(turns, 1))
    assert [(each.conversation, each.turn, each.follows, each.repeats) for each in result.values()] == [
        ("r1", 1, None, None),
        ("r2", 1, None, None),
        ("r1", 2, "r1", None),
        ("r2", 2, "r2", None),
    ]


def test_a_repeat_in_a_session_repeats_the_request_of_its_session() -> None:
    names = ("a", "b", "a", None)
    result = positions_of(link(number, asks(1, 1, 10), session=name) for number, name in enumerate(names, 1))
    assert [each.repeats for each in result.values()] == [None, None, "r1", "r3"]


def test_requests_of_other_sessions_do_not_hide_a_request_without_a_session() -> None:
    chains = [asks(1, 1, 10), asks(7, 1, 10), asks(2, 3, 20, origin(2, 10))]
    names = (None, "a", "b")
    result = positions_of(
        link(number, chain, session=name) for number, (chain, name) in enumerate(zip(chains, names, strict=True), 1)
    )
    assert result["r3"].follows == "r1"


def continuing(by: str) -> tuple[MessageChain, MessageChain, str | None]:
    """Return an exchange, a request that continues it by these keys, and the completion id of the exchange."""
    match by:
        case "all messages":
            return asks(1, 1, 10), asks(2, 3, 20, origin(2, 10)), None
        case "the last messages":
            return asks(1, 1, 10, window=5), asks(2, 3, 20, origin(2, 99, window=5)), None
        case "calls":
            return asks(1, 1, 10, loose=5), asks(2, 3, 20, origin(2, 99, loose=5)), None
        case "the previous response":
            return asks(1, 1, 10), asks(2, 1, 20, previous="resp_1"), "resp_1"
        case _:
            chain = MessageChain(1, 1, [], [], None, "conv_1")
            return chain, chain, None


@pytest.mark.parametrize(
    "by", ["all messages", "the last messages", "calls", "the previous response", "the provider's conversation"]
)
@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [("a", "a", True), ("a", "b", False), ("a", None, True), (None, "a", True), (None, None, True)],
)
def test_a_request_continues_no_request_of_another_session(
    by: str, first: str | None, second: str | None, *, is_one: bool
) -> None:
    start, continued, completion_id = continuing(by)
    result = positions_of([link(1, start, completion_id, first), link(2, continued, session=second)])
    assert result["r2"].follows == ("r1" if is_one else None)


def test_a_request_without_a_session_does_not_join_two_sessions() -> None:
    chains = [asks(1, 1, 10), asks(2, 3, 20, origin(2, 10)), asks(3, 5, 30, origin(4, 20))]
    names = ("a", None, "b")
    result = positions_of(
        link(number, chain, session=name) for number, (chain, name) in enumerate(zip(chains, names, strict=True), 1)
    )
    assert [each.conversation for each in result.values()] == ["r1", "r1", "r3"]


@pytest.mark.parametrize("seed", range(20))
def test_a_conversation_never_has_two_sessions(seed: int) -> None:
    random = Random(seed)
    keys, names = range(1, 6), (None, None, "a", "b", "c")
    links = []
    for number in range(1, 200):
        origins = [origin(1, random.choice(keys), random.choice(keys)) for _ in range(random.randrange(3))]
        previous = random.choice((None, None, f"resp_{random.choice(keys)}"))
        key, answer, window = random.choices(keys, k=3)
        chain = asks(key, 2, answer, *origins, window=window, previous=previous)
        links.append(link(number, chain, f"resp_{random.choice(keys)}", random.choice(names)))
    sessions: dict[str, set[str]] = {}
    for each, position in zip(links, positions_of(links).values(), strict=True):
        sessions.setdefault(position.conversation, set()).update({each.session} - {None})
    assert {len(each) for each in sessions.values()} <= {0, 1}
    assert len(sessions) >= 3


def test_requests_with_only_system_messages_do_not_repeat_each_other() -> None:
    chains = [
        build_chain(
            request_of({"messages": [{"role": "system", "content": text}]}),
            reading_of({"choices": [{"message": {"content": text}}]}).response,
        )
        for text in ("Name a tea.", "Name a coffee.")
    ]
    assert [(each.conversation, each.repeats) for each in of(*chains).values()] == [("r1", None), ("r2", None)]


def test_a_request_without_messages_is_its_own_conversation() -> None:
    assert of(None, None)["r2"] == Position("r2", 1, None, None, 0, 0)
