"""Run real client programs through a relay: ``python -m tests.clients [NAME …]``, or ``make clients``.

Each program is installed from npm or PyPI into ``build/clients``. Then it runs in a network namespace in which it
reaches only the relay, with a simulated upstream behind it. It gets a prompt that makes the simulator call one of its
tools, and, if it can, a second prompt in the same conversation. The log must then have all of its requests, with their
content read, turns linked, tags, session and user.

Prints a line per client. Exits with 1 if the log of a client differs from what is expected. A client that cannot be
installed is skipped. With ``--keep DIRECTORY``, the log and the output of the clients are kept.
"""

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.clients.client import SECOND_PROMPT, Client, Run, Setup
from tests.clients.findings import Logged, read_log
from tests.clients.installing import install
from tests.clients.programs import CLIENTS
from tests.clients.running import Finished, run_client
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger

#: ``unshare`` runs a command in a new network namespace, and in a new namespace of processes, so that all of them end
#: with the command: some clients start daemons. Only root can do so without a new user namespace.
_UNSHARE: Final = (
    *("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *(() if os.geteuid() == 0 else ("--map-root-user",)),
)
_SIOCGIFFLAGS: Final = 0x8913
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 1


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description="Run client programs through a relay.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(each.name for each in CLIENTS)}")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="keep the log and the output of the clients")
    parser.add_argument("--isolated", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.names) - {client.name for client in CLIENTS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    clients = [client for client in CLIENTS if client.name in options.names or not options.names]
    if not options.isolated:
        return _install_and_run(clients, options.keep)
    _set_loopback_up()
    with contextlib.ExitStack() as stack:
        directory = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(parents=True, exist_ok=True)
        return _run_all(clients, directory.resolve())


def _install_and_run(clients: Sequence[Client], keep: Path | None) -> int:
    """Install the clients, and then run this program again without a network."""
    installed = []
    for client in clients:
        try:
            install(client)
        except subprocess.CalledProcessError as error:
            print(f"{client.name} {client.version}: skipped, not installed (exit code {error.returncode})", flush=True)
        else:
            installed.append(client.name)
    if not installed:
        return 0
    if shutil.which("unshare") is None:
        raise SystemExit("Network namespaces are needed: unshare, of Linux")
    kept = [] if keep is None else ["--keep", str(keep)]
    command = [*_UNSHARE, sys.executable, "-m", "tests.clients", "--isolated", *kept, *installed]
    return subprocess.run(command).returncode


def _set_loopback_up() -> None:
    """Enable the loopback interface, which is disabled in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", request)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _run_all(clients: Sequence[Client], directory: Path) -> int:
    failed = []
    shutil.rmtree(directory / "data", ignore_errors=True)
    with SimulatedProvider() as provider:
        settings = directory / "relaybook.toml"
        root = provider.url.removesuffix("/v1")
        settings.write_text(
            f'price_as = "openai"\n[routes.anthropic]\nupstream = "{root}"\n[routes.gemini]\nupstream = "{root}"\n'
        )
        with Server(directory, provider.url, "--config", str(settings)) as server:
            for client in clients:
                if not _run_one(client, server, provider, directory):
                    failed.append(client.name)
    if failed:
        print(f"different: {', '.join(failed)}")
    return 1 if failed else 0


def _run_one(client: Client, server: Server, provider: SimulatedProvider, directory: Path) -> bool:
    """Run a client, print what it did, and return whether the log has what is expected."""
    home, work = directory / client.name / "home", directory / client.name / "work"
    shutil.rmtree(directory / client.name, ignore_errors=True)
    home.mkdir(parents=True)
    work.mkdir()
    root = server.base_url.removesuffix("/v1")
    tags = {"Service-Namespace": client.name, "Service-Property-Client": client.name}
    setup = Setup(server.base_url, f"{root}/anthropic", f"{root}/gemini", client.prompt, tags, home, work)
    run = client.run(setup)
    ledger = Ledger(provider)
    known = {row["id"] for row in server.records()}
    refused = _refused(server)
    done = run_client(client, run, home, work, install(client))
    received = len(ledger.requests())
    wait_until(lambda: len(server.records()) - len(known) >= received, what="recording all requests")
    rows = [row for row in server.records() if row["id"] not in known]
    logged = read_log(server, client, rows, done.output)
    if len(rows) != received:
        logged.findings.append(f"the upstream received {received} requests, the log has {len(rows)}")
    codes = (_refused(server) - refused).keys()
    if codes != client.refused:
        logged.findings.append(f"the relay refused requests with {sorted(codes) or 'no code'}")
    if done.status != 0:
        end = " / ".join(done.output.strip().splitlines()[-3:])
        logged.findings.insert(0, f"exit code {done.status}: {end}")
    _print(client, run, done, logged)
    return not logged.findings


def _refused(server: Server) -> Counter[str]:
    """Return the number of refused requests by error code."""
    found = re.findall(r'^relaybook_refused_total\{code="(\w+)"\} (\d+)', server.metrics(), re.MULTILINE)
    return Counter({code: int(count) for code, count in found})


def _print(client: Client, run: Run, done: Finished, logged: Logged) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in logged.kinds.most_common()) or "none"
    session, user = (
        ", ".join(sorted(value or "none" for value in values)) for values in (logged.sessions, logged.users)
    )
    print(
        f"{client.name} {client.version}: {'different' if logged.findings else 'ok'}; requests: {kinds}; "
        f"turns: {logged.turns}; session: {session}; user: {user}; {done.seconds:.1f} s"
    )
    for command in run.commands:
        line = " ".join(" ".join(command).split())
        print(f"  ran: {line.replace(client.prompt, 'PROMPT').replace(SECOND_PROMPT, 'PROMPT')}")
    for finding in logged.findings:
        print(f"  different: {finding}")
    for remark, count in Counter(logged.remarks).items():
        print(f"  remark: {remark} ({count} times)")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
