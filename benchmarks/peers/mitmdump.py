"""Run mitmdump as a reverse proxy that writes every flow with both bodies to a file.

``python -m benchmarks.peers`` installs mitmproxy. mitmdump sends a response on when the whole response has arrived. It
can also relay streams as they arrive, but then it does not log their bodies. The file has the headers, both bodies and
four times of each flow, but no index, so queries have to read the whole file. mitmdump uses the same Python as
Relaybook.
"""

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.installed import package_version, packages
from benchmarks.peers.peer import StartedPeer, Upstream, new_port

_RUN = "from mitmproxy.tools.main import mitmdump; mitmdump()"


class Mitmdump(StartedPeer):
    """The process of mitmdump. ``log`` is the file with the flows."""

    name = "mitmdump"
    log = Path()


def start(bench: Bench, place: Path, upstream: Upstream) -> Mitmdump:
    """Start mitmdump without its own output."""
    installed = packages("mitmproxy")
    port, log = new_port(), place / "flows"
    options = {"confdir": str(place)}
    if upstream.ca_file is not None:
        options["ssl_verify_upstream_trusted_ca"] = str(upstream.ca_file)
    # -S hides the packages that are installed with Relaybook.
    command = [bench.python, "-S", "-c", _RUN, "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port)]
    command += ["--mode", f"reverse:{upstream.url.removesuffix('/v1')}", "--save-stream-file", str(log)]
    command += [part for name, value in options.items() for part in ("--set", f"{name}={value}")]
    environment = {"PYTHONPATH": str(installed)}
    peer = Mitmdump(place, command, port, package_version("mitmproxy", "mitmproxy"), environment)
    peer.log = log
    return peer
