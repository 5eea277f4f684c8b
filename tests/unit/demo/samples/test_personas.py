"""Test that personas are deterministic, and that only the names of customers look like ids."""

import itertools
import random
import re

from relaybook_demo.samples import personas

#: Matches text like an e-mail address, a number of three or more digits, a UUID, or eight or more hex digits.
#: Labels do not match.
ID_LIKE = re.compile(r"@|\d{3}|[0-9a-f]{8}")


def test_customers_have_names_that_look_like_ids() -> None:
    people = personas.people(random.Random(1))
    assert len(set(people)) == len(people) > 30
    assert [name for name in people if not ID_LIKE.search(name)] == []


def test_channels_look_like_labels() -> None:
    assert [name for name in personas.CHANNELS if ID_LIKE.search(name)] == []


def test_the_same_seed_gives_the_same_customers() -> None:
    assert personas.people(random.Random(3)) == personas.people(random.Random(3))
    assert personas.people(random.Random(3)) != personas.people(random.Random(4))


def test_every_item_is_yielded_before_any_repeats() -> None:
    shuffled = list(itertools.islice(personas.shuffled_forever("abcde", random.Random(1)), 15))
    assert [sorted(shuffled[start : start + 5]) for start in (0, 5, 10)] == [list("abcde")] * 3


def test_a_speedup_shortens_the_delay_and_raises_the_speed() -> None:
    normal = personas.pace("gpt-4o", random.Random(1))
    faster = personas.pace("gpt-4o", random.Random(1), speedup=4)
    assert int(faster["Sim-First-Token-Ms"]) < int(normal["Sim-First-Token-Ms"])
    assert int(faster["Sim-Tokens-Per-Second"]) > int(normal["Sim-Tokens-Per-Second"])


def test_a_traceparent_has_the_standard_format() -> None:
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", personas.trace_headers(random.Random(1))["traceparent"])
