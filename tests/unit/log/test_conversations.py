"""Requests are cut into conversations: what goes on, what branches, what asks the same again."""

from relaybook.log.conversations import Place, places
from relaybook.log.formats import MessageChain, encode_chain
from relaybook.log.formats.facts import Origin
from relaybook.log.store.port import Step


def step(number: int, turn: MessageChain | None, completion_id: str | None = None) -> Step:
    encoded = None if turn is None else encode_chain(turn)
    return Step(seq=number, id=f"r{number}", started_at=number, failed=False, completion_id=completion_id, turn=encoded)


def asks(
    key: int, messages: int = 1, answer: int = 0, *origins: Origin, window: int = 0, previous: str | None = None
) -> MessageChain:
    return MessageChain(messages, key, [(answer, window)] if answer else [], list(origins), previous)


def of(*turns: MessageChain | None) -> dict[str, Place]:
    return places(step(number, turn) for number, turn in enumerate(turns, 1))


def test_what_follows_no_other_begins_a_conversation() -> None:
    found = of(asks(1, 1, 10), asks(2, 2, 20))
    assert found["r1"] == Place("r1", 1, None, None, 0, 1)
    assert found["r2"] == Place("r2", 1, None, None, 0, 2)


def test_turns_follow_each_other() -> None:
    found = of(asks(1, 1, 10), asks(2, 3, 20, Origin(2, 10, 0)), asks(3, 5, 30, Origin(4, 20, 0), Origin(2, 10, 0)))
    assert found["r2"] == Place("r1", 2, "r1", None, 2, 3)
    assert found["r3"] == Place("r1", 3, "r2", None, 4, 5)


def test_the_latest_that_fits_wins() -> None:
    found = of(asks(1, 1, 10), asks(7, 1, 10), asks(2, 3, 20, Origin(2, 10, 0)))
    assert found["r2"].conversation == "r2"
    assert found["r3"].follows == "r2"


def test_all_messages_win_over_the_last_ones() -> None:
    found = of(asks(1, 3, 10, window=5), asks(2, 3, 99, window=5), asks(3, 5, 30, Origin(4, 10, 5)))
    assert found["r3"].follows == "r1"
    found = of(asks(1, 3, 10, window=5), asks(3, 5, 30, Origin(4, 77, 5)))
    assert found["r2"] == Place("r1", 2, "r1", None, 4, 5)


def test_two_may_go_on_from_one() -> None:
    found = of(asks(1, 1, 10), asks(2, 3, 20, Origin(2, 10, 0)), asks(3, 3, 30, Origin(2, 10, 0)))
    assert (found["r2"].turn, found["r3"].turn) == (2, 2)
    assert found["r3"].conversation == "r1"


def test_the_same_messages_ask_again() -> None:
    found = of(
        asks(1, 1, 10),
        asks(2, 3, 0, Origin(2, 10, 0)),
        asks(2, 3, 20, Origin(2, 10, 0)),
        asks(2, 3, 21, Origin(2, 10, 0)),
    )
    assert found["r3"] == Place("r1", 2, "r1", "r2", 2, 3)
    assert found["r4"] == Place("r1", 2, "r1", "r3", 2, 3)


def test_what_is_asked_again_in_a_second_run_goes_on_from_that_run() -> None:
    """As when a script is run twice: its second turn goes on from its own first one, which asked the same again."""
    run = (asks(1, 1, 10), asks(2, 3, 20, Origin(2, 10, 0)))
    found = of(*run, *run)
    assert found["r3"] == Place("r1", 1, None, "r1", 0, 1)
    assert found["r4"] == Place("r1", 2, "r3", "r2", 2, 3)


def test_a_response_that_is_named_is_followed() -> None:
    steps = [step(1, asks(1, 1, 10), "resp_1"), step(2, asks(1, 1, 0, previous="resp_1"))]
    assert places(steps)["r2"] == Place("r1", 2, "r1", None, 0, 1)


def test_a_request_without_messages_stands_alone() -> None:
    assert of(None, None)["r2"] == Place("r2", 1, None, None, 0, 0)
