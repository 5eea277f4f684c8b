"""Test the files of the project.

No file contains a private path or a registry host. Suppressed warnings name a code. All modules to compile exist.
"""

import re

import pytest
from compile_with_mypyc import MODULES
from tests.support.tree import ROOT, project_files

TEXT_FILES = (
    *(".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".json", ".sh", ".ts", ".tsx", ".mjs", ".css", ".html", ".svg"),
    *(".service", ".npmrc", "Dockerfile", "Makefile", "run"),
)
#: The patterns are split into parts, so that this file does not match them.
PRIVATE_PATH = re.compile(r"(?<![\w.~-])/(?:wo" r"rk|far" r"m|root|Users)/\w|\.\./sha" r"red|\.libra" r"ry/")
REGISTRY = re.compile(r"py" r"pi\.org/simple|python" r"hosted\.org|registry\.np" r"mjs|deb\.deb" r"ian\.org")


def occurrences(pattern: re.Pattern[str], *suffixes: str) -> list[str]:
    found = []
    for path in project_files(*suffixes):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    return found


@pytest.mark.parametrize("pattern", [PRIVATE_PATH, REGISTRY], ids=["path", "registry"])
def test_no_file_contains_a_private_path_or_a_registry_host(pattern: re.Pattern[str]) -> None:
    assert occurrences(pattern, *TEXT_FILES) == []


def test_warnings_are_suppressed_with_a_code() -> None:
    bare = re.compile(r"#\s*(?:type:\s*ignore(?!\[)|no" r"qa(?!:))")
    assert occurrences(bare, ".py") == []


def test_every_module_to_compile_exists() -> None:
    assert [name for name in MODULES if not (ROOT / "src" / "relaybook" / f"{name}.py").is_file()] == []


def test_actions_of_other_repositories_are_pinned_by_commit() -> None:
    """A tag can be moved to another commit, but a commit hash always names the same commit."""
    unpinned = re.compile(r"uses: (?!\./|[\w./-]+@[0-9a-f]{40} # v)")
    assert occurrences(unpinned, ".yml") == []
