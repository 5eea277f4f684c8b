"""Compile the modules of the request path with mypyc. Without compilation, the same modules run as plain Python.

``python compile_with_mypyc.py <directory> [level]`` copies src/ to the directory and compiles the modules there. The
checkout is not changed. The optimization level is 3 by default. A C compiler and Python's headers are required. ``make
compiled`` builds a wheel with the same modules (RELAYBOOK_COMPILE=1, hatch_build.py). docs/explanation/benchmarks.md
has the speedup.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent
#: The modules that handle each request or chunk of a stream in the relay, and each record in the recorder. Modules with
#: structs that msgspec decodes are excluded, because compiled structs lose the types of their fields.
MODULES: Final = (
    *("clock", "ids", "tags"),
    *(f"journal/{name}" for name in ("frame", "segment", "writer")),
    *(
        f"relay/{name}"
        for name in (
            *("admission", "client_connection", "client_framing", "connection", "context", "cors", "dial", "exchange"),
            *("fingerprints", "framing", "gate", "head_cache", "header_rules", "last_resort", "limits", "pool"),
            *("origins", "relay", "request_head", "response_head", "response_lines", "routes", "upstream"),
        )
    ),
    *(
        f"log/formats/{name}"
        for name in (
            *("advice", "audio", "chat", "cohere", "completion", "content", "embedding", "generate", "generate_parts"),
            *("image", "interaction", "lenient", "media", "message", "message_chain", "moderation", "ollama", "output"),
            *("preview", "provider_errors", "reading", "response", "sse", "stream", "text", "usage"),
        )
    ),
    "log/prices",
    "log/search_text",
    *(f"recorder/{name}" for name in ("body_policy", "entry_builder", "loop")),
    *(
        f"log/store/sqlite/{name}"
        for name in ("entries", "index/counters", "index/rollups", "packs/bases", "packs/pack_writer", "rows")
    ),
)
_GROUP: Final = "relaybook_compiled"


def compile_into(directory: Path, level: str) -> list[Path]:
    """Copy src/ and compile the modules. Return the compiled files, relative to the copy.

    Raises SystemExit if the compiler fails. The output of the compiler contains the reason.
    """
    from mypyc.build import mypycify
    from setuptools import setup

    shutil.copytree(ROOT / "src", directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    options = [f"--config-file={ROOT / 'pyproject.toml'}", *(f"relaybook/{name}.py" for name in MODULES)]
    before = Path.cwd()
    os.chdir(
        directory
    )  # mypyc derives module names from relative paths, and setuptools builds in the working directory
    try:
        extensions = mypycify(options, opt_level=level, group_name=_GROUP)
        for extension in extensions:
            extension.extra_compile_args.append("-g0")  # debug information contains the paths of the build
        setup(name=_GROUP, ext_modules=extensions, script_args=["--quiet", "build_ext", "--inplace"])
    finally:
        os.chdir(before)
    shutil.rmtree(directory / "build", ignore_errors=True)
    return sorted(path.relative_to(directory) for path in directory.rglob("*.so"))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(
            "Usage: python compile_with_mypyc.py DIRECTORY [LEVEL], such as python compile_with_mypyc.py build/compiled"
        )
    compiled = compile_into(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else "3")
    print(f"{len(compiled)} compiled modules in {sys.argv[1]}")
