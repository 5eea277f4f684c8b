"""Run the Portkey gateway (npm ``@portkey-ai/gateway``) on Node.

``python -m benchmarks.peers`` installs the gateway. The gateway logs nothing. ``@hono/node-server`` is pinned to
1.13.7, because with 1.14 and 1.19 this gateway responds to every stream with 500. The benchmark uses the Node that
builds the dashboard, which was the fastest of Node 20, 22 and 24. Clients send two additional headers that select the
upstream.
"""

import json
import subprocess
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.installed import node, packages
from benchmarks.peers.peer import StartedPeer, Upstream, new_port


class Portkey(StartedPeer):
    """The process of Node."""

    name = "Portkey"


def start(bench: Bench, place: Path, upstream: Upstream) -> Portkey:
    """Start the gateway without its web page."""
    gateway = packages("portkey") / "node_modules" / "@portkey-ai" / "gateway"
    program = node()
    port = new_port()
    environment = {"NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": "127.0.0.1,localhost"}
    if upstream.ca_file is not None:
        environment["NODE_EXTRA_CA_CERTS"] = str(upstream.ca_file)
    command = [str(program), str(gateway / "build" / "start-server.js"), "--headless", f"--port={port}"]
    version = json.loads((gateway / "package.json").read_text())["version"]
    runtime = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    peer = Portkey(place, command, port, f"{version} on Node {runtime.removeprefix('v')}", environment)
    peer.headers = {"x-portkey-provider": "openai", "x-portkey-custom-host": upstream.url}
    return peer
