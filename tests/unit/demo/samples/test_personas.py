"""The same cast for everybody, with names of both kinds."""

import itertools
import random
import re

from relaybook_demo.samples import personas

#: What no label looks like: an address, a number, a UUID, a long piece of hex.
ID_LIKE = re.compile(r"@|\d{3}|[0-9a-f]{8}")


def test_people_have_names_that_look_like_ids() -> None:
    people = personas.people(random.Random(1))
    assert len(set(people)) == len(people) > 30
    assert [name for name in people if not ID_LIKE.search(name)] == []


def test_channels_look_like_labels() -> None:
    assert [name for name in personas.CHANNELS if ID_LIKE.search(name)] == []


def test_the_same_chance_makes_the_same_cast() -> None:
    assert personas.people(random.Random(3)) == personas.people(random.Random(3))
    assert personas.people(random.Random(3)) != personas.people(random.Random(4))


def test_everything_is_dealt_before_anything_comes_again() -> None:
    dealt = list(itertools.islice(personas.dealt_forever("abcde", random.Random(1)), 15))
    assert [sorted(dealt[at : at + 5]) for at in (0, 5, 10)] == [list("abcde")] * 3


def test_hurry_shortens_the_wait_and_raises_the_speed() -> None:
    calm = personas.pace("gpt-4o", random.Random(1))
    hurried = personas.pace("gpt-4o", random.Random(1), hurry=4)
    assert int(hurried["Sim-First-Token-Ms"]) < int(calm["Sim-First-Token-Ms"])
    assert int(hurried["Sim-Tokens-Per-Second"]) > int(calm["Sim-Tokens-Per-Second"])


def test_a_trace_is_what_the_standard_says() -> None:
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", personas.traced(random.Random(1))["traceparent"])
