"""Test the first lines that the server prints."""

from pathlib import Path

import pytest

from relaybook.server import program
from relaybook.settings.definitions import Settings


@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_the_first_line_tells_what_plain_python_costs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "program", lambda: kind)
    program._print_start(Settings(data=tmp_path), "http://127.0.0.1:4100/v1", "http://127.0.0.1:4101")
    first = capsys.readouterr().out.splitlines()[0]
    assert ("make compiled" in first) == (kind == "plain")
