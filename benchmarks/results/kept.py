"""Store results as JSON.

The newest run of each part is in ``benchmarks/latest``, and other runs are in a directory of your choice.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.results.figures import Result

LATEST = Path(__file__).parents[1] / "latest"


def keep(result: Result, machine: dict[str, Any], began: str, load: tuple[float, float]) -> Path:
    """Write ``latest/<part>.json`` without rounds, replacing the part's previous run. Earlier runs are in git."""
    facts = _facts(result, machine, began, load)
    del facts["rounds"]
    return _write(LATEST / f"{result.part}.json", facts)


def save(result: Result, machine: dict[str, Any], began: str, load: tuple[float, float], directory: Path) -> Path:
    """Write ``<timestamp>-<part>.json`` with all rounds to ``directory``."""
    return _write(directory / f"{began.replace(':', '-')}-{result.part}.json", _facts(result, machine, began, load))


def latest(part: str) -> dict[str, Any] | None:
    """Return the newest result of a part, or ``None`` if there is no result."""
    path = LATEST / f"{part}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def _facts(result: Result, machine: dict[str, Any], began: str, load: tuple[float, float]) -> dict[str, Any]:
    facts = {"part": result.part, "began": began, "machine": machine, "load_average_before_and_after": load}
    return facts | result.plain()


def _write(path: Path, facts: dict[str, Any]) -> Path:
    """Write one line per key, figure and round, so that a diff shows each change."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {_json(key)}: {_value(value)}" for key, value in facts.items())
    path.write_text(f"{{\n{lines}\n}}\n", "utf-8")
    return path


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"  {_json(each)}" for each in value) + "\n ]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
