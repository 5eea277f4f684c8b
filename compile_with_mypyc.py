"""Compiles what every request goes through: the same typed Python, as C. Plain Python goes on to run everywhere.

``python compile_with_mypyc.py <directory> [level]`` copies src/ to the directory and compiles the modules there; the
checkout is not changed. The optimization level is 3 by default; 0 compiles in half the time, for tests. Needs a C
compiler and Python's headers. ``make compiled`` builds a wheel with the same modules (RELAYBOOK_COMPILE=1,
hatch_build.py). What it gains: docs/explanation/benchmarks.md.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent
#: What a request or a piece of a stream goes through in the relay, and its record in the recorder.
#: No struct that msgspec decodes is among them: the compiler leaves its fields without their types.
MODULES: Final = (
    *("clock", "ids", "tags"),
    *(f"journal/{name}" for name in ("frame", "segment", "writer")),
    *(
        f"relay/{name}"
        for name in (
            *("admission", "client_framing", "connection", "cors", "dial", "downstream", "endings", "exchange"),
            *("fingerprints", "framing", "gate", "head_cache", "header_rules", "last_resort", "limits", "pool"),
            *("refuse", "relay", "request_head", "response_head", "routes", "shared", "upstream"),
        )
    ),
    *(
        f"log/formats/{name}"
        for name in (
            *("advice", "answer", "assembly", "chat", "detail", "errors", "lenient", "media", "output_text"),
            *("request", "responses", "sse", "text", "usage"),
        )
    ),
    *(f"recorder/{name}" for name in ("body_policy", "loop", "prices", "understand")),
    *(f"log/store/sqlite/{name}" for name in ("counters", "entries", "packs", "rollups", "rows")),
)
_GROUP: Final = "relaybook_compiled"


def compile_into(directory: Path, level: str) -> list[Path]:
    """Makes the copy; the compiled files, relative to it. SystemExit where the compiler fails, which says why."""
    from mypyc.build import mypycify
    from setuptools import setup

    shutil.copytree(ROOT / "src", directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    options = [f"--config-file={ROOT / 'pyproject.toml'}", *(f"relaybook/{name}.py" for name in MODULES)]
    before = Path.cwd()
    os.chdir(directory)  # mypyc names modules by their paths, and setuptools builds where it stands
    try:
        extensions = mypycify(options, opt_level=level, group_name=_GROUP)
        setup(name=_GROUP, ext_modules=extensions, script_args=["--quiet", "build_ext", "--inplace"])
    finally:
        os.chdir(before)
    shutil.rmtree(directory / "build", ignore_errors=True)
    return sorted(path.relative_to(directory) for path in directory.rglob("*.so"))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit("Name the directory to compile into: python compile_with_mypyc.py build/compiled")
    made = compile_into(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else "3")
    print(f"{len(made)} compiled modules in {sys.argv[1]}")
