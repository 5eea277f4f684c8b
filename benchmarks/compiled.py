"""Compile the request path of the source. The result is cached next to the installed peers, per source version."""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.installed import cache

_ROOT = Path(__file__).parent.parent


def compiled(bench: Bench) -> Bench | None:
    """Return the run with the compiled source.

    `None` if the run measures another source than this repository, or if there is no compiler.
    """
    if bench.source != _ROOT / "src":
        return None
    source = cache() / f"compiled-{_digest()}"
    if not (source / ".complete").exists():
        shutil.rmtree(source, ignore_errors=True)
        source.parent.mkdir(parents=True, exist_ok=True)
        made = subprocess.run([sys.executable, "compile_with_mypyc.py", str(source)], cwd=_ROOT, capture_output=True)
        if made.returncode:
            return None
        (source / ".complete").touch()
    return replace(bench, source=source)


def _digest() -> str:
    found = hashlib.sha256(sys.version.encode())
    for path in sorted([*(_ROOT / "src").rglob("*.py"), _ROOT / "compile_with_mypyc.py"]):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
