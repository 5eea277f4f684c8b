"""Load by wrk: one thread, many connections, each sending its next request when the answer came.

64 requests of different lengths take turns, so that a relay which remembers what it saw last gains no more by it than
in use. What is on its way when the time is over is broken off.
"""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.messages import REQUEST_BODY, HeaderSet

_NONE: Mapping[str, str] = MappingProxyType({})
_SCRIPT = """
local requests, n = {}, 0
function init()
  for i = 1, 64 do
    for _, name in ipairs(varying) do wrk.headers[name] = varying_begin[name] .. string.format("%04d", i) end
    requests[i] = wrk.format("POST", nil, wrk.headers, body .. string.rep(" ", i % 32))
  end
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


def run_wrk(
    port: int,
    headers: HeaderSet,
    seconds: float,
    connections: int = 32,
    extra: Mapping[str, str] = _NONE,
    pause_ms: float = 0,
) -> Load:
    """Posts completions for so many seconds (whole ones), with ``extra`` headers; an answer may take 30 s.

    Each connection pauses so long between an answer and its next request, on average: the pauses differ.
    """
    sent = headers.request | dict(extra)
    lines = [f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in sent.items()]
    lines.append(f"body = {json.dumps(REQUEST_BODY.decode())}")
    lines.append(f"varying = {{{', '.join(map(json.dumps, headers.varying))}}}")
    begin = (f"[{json.dumps(name)}] = {json.dumps(headers.request[name])}" for name in headers.varying)
    lines.append(f"varying_begin = {{{', '.join(begin)}}}")
    if pause_ms:
        lines.append(f"function delay() return math.random(0, {round(2 * pause_ms)}) end")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        Path(file.name).write_text("\n".join([*lines, _SCRIPT]))
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "30s"]
        output = subprocess.run([*command, "-s", file.name, url], capture_output=True, text=True, check=True).stdout
    found = next(line for line in output.splitlines() if line.startswith("RESULT "))
    return Load(**json.loads(found.removeprefix("RESULT ")))
