"""Compare the facts of the golden exchanges with ``golden.jsonl``.

After an intended change, ``python -m tests.golden.test_golden`` writes the file again. Each difference must be an
improvement.
"""

import json
from pathlib import Path
from typing import Any

from tests.golden.exchanges import exchanges
from tests.golden.facts import all_facts
from tests.support.each import check_each

FILE = Path(__file__).with_name("golden.jsonl")
GOLDEN: dict[str, dict[str, Any]] = {}
if FILE.exists():
    GOLDEN = {line["name"]: line for line in map(json.loads, FILE.read_text().splitlines())}


def current() -> dict[str, dict[str, Any]]:
    """Return the current facts of each exchange, by name."""
    return {facts["name"]: json.loads(json.dumps(facts)) for facts in all_facts(exchanges())}


def test_every_exchange_has_its_own_name_and_facts() -> None:
    names = [exchange.name for exchange in exchanges()]
    assert len(set(names)) == len(names) >= 300
    assert list(GOLDEN) == names


def test_the_facts_of_an_exchange_have_not_changed() -> None:
    found = current()

    def check(name: str) -> None:
        assert found[name] == GOLDEN.get(name)

    check_each(found, check)


def write() -> None:
    """Write the golden file."""
    lines = [json.dumps(facts, ensure_ascii=True, separators=(",", ":")) for facts in current().values()]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write()
