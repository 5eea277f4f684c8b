"""wrk for proxies of any speed: like ``benchmarks.wrk``, but it waits long for an answer, and tells errors apart."""

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.messages import REQUEST_BODY, HeaderSet
from benchmarks.peers.peer import Peer

_SCRIPT = """
local requests, n = {}, 0
function init()
  for i = 1, 64 do requests[i] = wrk.format("POST", nil, wrk.headers, body .. string.rep(" ", i % 32)) end
end
function request()
  n = n % 64 + 1
  return requests[n]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format(
    'RESULT {"requests":%d,"failed":%d,"broken":%d,"p50_us":%d,"p99_us":%d,"microseconds":%d}',
    summary.requests, e.status, e.connect + e.read + e.write + e.timeout, latency:percentile(50),
    latency:percentile(99), summary.duration))
end
"""


@dataclass(frozen=True)
class Load:
    """What one run did. ``failed``: answers that were no success. ``broken``: connections lost, answers never come."""

    requests: int
    failed: int
    broken: int
    p50_us: int
    p99_us: int
    microseconds: int

    @property
    def per_second(self) -> float:
        """Requests that succeeded."""
        return (self.requests - self.failed) / self.microseconds * 1e6


def run_wrk(peer: Peer, headers: HeaderSet, seconds: float, connections: int) -> Load:
    """Posts completions for so many seconds (whole ones)."""
    sent = replace(headers, request=headers.request | dict(peer.headers))
    lines = [f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in sent.request.items()]
    lines.append(f"body = {json.dumps(REQUEST_BODY.decode())}")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        Path(file.name).write_text("\n".join([*lines, _SCRIPT]))
        url = f"http://127.0.0.1:{peer.port}/v1/chat/completions"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "30s"]
        output = subprocess.run([*command, "-s", file.name, url], capture_output=True, text=True, check=True).stdout
    found = next(line for line in output.splitlines() if line.startswith("RESULT "))
    return Load(**json.loads(found.removeprefix("RESULT ")))
