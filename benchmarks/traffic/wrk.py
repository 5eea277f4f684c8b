"""Generate load with wrk, on one thread and many connections. A connection sends its next request after a response.

64 requests of different lengths alternate, so that caches in the relay are not more effective than in production.
Requests that are running at the end are aborted.
"""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.traffic.messages import REQUEST_BODY, HeaderSet

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
    """The result of a run.

    ``failed`` counts error responses. ``broken`` counts lost connections and missing responses.
    """

    requests: int
    failed: int
    broken: int
    p50_us: int
    p99_us: int
    microseconds: int

    @property
    def per_second(self) -> float:
        """The number of successful requests per second."""
        return (self.requests - self.failed) / self.microseconds * 1e6


def run_wrk(
    port: int,
    headers: HeaderSet,
    seconds: float,
    connections: int = 32,
    extra: Mapping[str, str] = _NONE,
    pause_ms: float = 0,
    path: str = "/v1/chat/completions",
) -> Load:
    """Send completion requests with ``extra`` headers for a whole number of seconds.

    Responses time out after 30 s. Each connection pauses between a response and its next request. The pauses vary
    around the given average.
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
        url = f"http://127.0.0.1:{port}{path}"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "30s"]
        output = subprocess.run([*command, "-s", file.name, url], capture_output=True, text=True, check=True).stdout
    found = next(line for line in output.splitlines() if line.startswith("RESULT "))
    return Load(**json.loads(found.removeprefix("RESULT ")))
