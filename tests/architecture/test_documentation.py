"""Check the claims in the documentation about links, settings, flags and make targets."""

import re

from tests.support.settings_page import PAGE, settings_page
from tests.support.tree import ROOT, project_files

from relaybook.cli.main import app
from relaybook.client_headers import CLIENT_HEADERS

#: Pages with flags of other programs.
FOREIGN_FLAGS = {
    "docs/how-to/run-in-a-container.md",
    "docs/how-to/run-on-kubernetes.md",
    "docs/how-to/run-with-systemd.md",
    "docs/reference/simulator.md",
}
COMMANDS = tuple(name for name in app if not name.startswith("-"))
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TARGET = re.compile(r"\bmake ([a-z][a-z-]+)\b")


def test_the_settings_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == settings_page(), "run: make docs"


def test_links_within_the_project_have_targets() -> None:
    broken = []
    for page in project_files(".md"):
        for link in LINK.findall(page.read_text("utf-8")):
            target = link.partition("#")[0]
            if target and "://" not in link and not link.startswith("mailto:") and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_flags_in_the_documentation_exist() -> None:
    arguments = [argument for name in COMMANDS for argument in app[name].assemble_argument_collection()]
    known = {name for argument in arguments for name in argument.names} | {"--help", "--version"}
    pages = [page for page in project_files(".md") if page.relative_to(ROOT).as_posix() not in FOREIGN_FLAGS]
    assert PAGE in pages
    unknown = {str(page): set(FLAG.findall(code_of(page.read_text("utf-8")))) - known for page in pages}
    assert {page: flags for page, flags in unknown.items() if flags} == {}


def test_the_table_of_commands_lists_every_command() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    listed = re.findall(r"^\| \[`([a-z]+)`\]", page, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def code_of(page: str) -> str:
    """Return the lines in code blocks that call relaybook, and all inline code that begins with a flag."""
    blocks = re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if "relaybook " in line]
    return "\n".join([*lines, *re.findall(r"`(--[^`]+)`", page)])


def test_targets_of_make_in_the_documentation_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        name
        for page in project_files(".md")
        for code in re.findall(r"^```.*?^```|`[^`\n]+`", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        for name in TARGET.findall(code)
    }
    assert named - targets == set()


def test_the_headers_of_clients_are_documented_in_their_order() -> None:
    page = (ROOT / "docs" / "how-to" / "tag.md").read_text("utf-8")
    meanings = {
        "session": "session",
        "user": "user, if the body has none",
        "agent": "property `agent`",
        "parent_agent": "property `parent-agent`",
    }
    rows = [f"| `{header.name}` | {meanings[header.meaning]} | {header.clients} |" for header in CLIENT_HEADERS]
    assert "\n".join(rows) in page
