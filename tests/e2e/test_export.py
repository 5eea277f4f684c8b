"""The export menu downloads the filtered requests, and shows a command that writes the same file."""

import csv
import json
import shlex
from pathlib import Path

import pytest
from playwright.sync_api import Locator
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

from relaybook.cli.main import main

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of three requests. Two of them have the namespace staging."""
    return world.log(
        Call(namespace="production", text="Where is my refund?"),
        Call(namespace="staging", text="An axolotl, please."),
        Call(namespace="staging", text="=1+1", properties={"channel": "ios"}),
    )


def menu(tab: LogPage) -> Locator:
    """Open the export menu for the requests of staging, and return the menu."""
    tab.open_log("?namespace=staging")
    tab.page.get_by_role("button", name="Export…").click()
    found = tab.page.get_by_role("dialog", name="Export…")
    expect(found.get_by_text("Export 2 requests")).to_be_visible()
    return found


def download(tab: LogPage, menu: Locator, directory: Path) -> Path:
    with tab.page.expect_download() as started:
        menu.get_by_role("link", name="Download").click()
    path = directory / started.value.suggested_filename
    started.value.save_as(path)
    return path


def test_the_filtered_requests_are_downloaded(tab: LogPage, log: list[str], tmp_path: Path) -> None:
    opened = menu(tab)
    opened.get_by_label("With HTTP headers, prompts and responses").check()
    path = download(tab, opened, tmp_path)
    assert path.suffix == ".jsonl"
    *lines, end = map(json.loads, path.read_text().splitlines())
    assert [line["id"] for line in lines] == log[1:]
    assert "axolotl" in lines[0]["request"]["text"]
    assert end == {"end": True, "count": 2}
    opened.get_by_label("CSV").check()
    with download(tab, opened, tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == log[1:]
    assert rows[1]["input_preview"] == "'=1+1"
    assert rows[1]["property.channel"] == "ios"


def test_every_format_can_be_downloaded(tab: LogPage, log: list[str], tmp_path: Path) -> None:
    opened = menu(tab)
    choices = opened.get_by_role("radio").all()
    names = []
    for choice in choices:
        choice.check()
        path = download(tab, opened, tmp_path)
        assert path.stat().st_size > 0
        names.append(path.name.partition(".")[2])
    assert names == ["jsonl", "csv", "chat.jsonl", "parquet"]


def test_the_command_writes_the_same_file(
    tab: LogPage, log: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = menu(tab)
    command = opened.get_by_role("code").text_content() or ""
    words = shlex.split(command)
    monkeypatch.chdir(tmp_path)
    assert words[0] == "relaybook"
    assert main(words[1:]) == 0
    assert Path("requests.jsonl").read_bytes() == download(tab, opened, tmp_path).read_bytes()


def test_the_menu_is_accessible(tab: LogPage, log: list[str]) -> None:
    menu(tab)
    check_accessibility(tab.page)
    tab.press("Escape")
    expect(tab.page.get_by_role("button", name="Export…")).to_be_focused()
