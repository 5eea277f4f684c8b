"""What no file of the project may contain: one machine's paths, a registry's address, unfinished work."""

import re

import pytest
from tests.support.tree import ROOT, project_files

TEXT_FILES = (".py", ".md", ".toml", ".txt", ".yml", ".sh", ".ts", ".tsx", ".css", ".html", "Makefile", "run")
#: Written in pieces, so that this file does not contain them either.
MACHINE = re.compile(r"(?<![\w.~-])/(?:wo" r"rk|far" r"m|root|Users)/\w|\.\./sha" r"red|\.libra" r"ry/")
REGISTRY = re.compile(r"py" r"pi\.org/simple|python" r"hosted\.org|registry\.np" r"mjs|deb\.deb" r"ian\.org")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")


def occurrences(pattern: re.Pattern[str], *suffixes: str) -> list[str]:
    found = []
    for path in project_files(*suffixes):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    return found


@pytest.mark.parametrize("pattern", [MACHINE, REGISTRY], ids=["machine", "registry"])
def test_nothing_names_one_machine_or_one_registry(pattern: re.Pattern[str]) -> None:
    assert occurrences(pattern, *TEXT_FILES) == []


def test_nothing_is_left_unfinished() -> None:
    assert occurrences(UNFINISHED, ".py") == []


def test_warnings_are_silenced_with_a_code() -> None:
    bare = re.compile(r"#\s*(?:type:\s*ignore(?!\[)|no" r"qa(?!:))")
    assert occurrences(bare, ".py") == []
