"""Run nginx with a Lua script that logs both bodies (Debian: ``nginx-light libnginx-mod-http-lua``).

Each request is one entry in ``bodies.log``. An entry consists of a line (time, method, URI, status, lengths of the
bodies in bytes), the request body, a newline, the complete response body, and a newline. The file is buffered (64 KiB,
flushed once per second), so a kill loses at most one second. The file has no headers, no times of chunks and no index,
so queries have to read the whole file.
"""

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.nginx_plain import command, configure, nginx_version
from benchmarks.peers.peer import NOTHING, NotInstalled, StartedPeer, Upstream, new_port

_MODULES = (Path("/usr/lib/nginx/modules/ndk_http_module.so"), Path("/usr/lib/nginx/modules/ngx_http_lua_module.so"))
_HTTP = """
  lua_package_path "{place}/?.lua;;";
  init_worker_by_lua_block {{ require("bodies").open("{place}/bodies.log") }}
"""
#: The request body is read completely before it is forwarded. Otherwise, Lua cannot log the whole body.
_LOCATION = """
      proxy_request_buffering on;
      body_filter_by_lua_block { require("bodies").keep(ngx.arg[1]) }
      log_by_lua_block { require("bodies").write() }
"""
_LUA = """
local bodies, file = {}, nil

function bodies.open(path)
  file = assert(io.open(path, "ab"))
  file:setvbuf("full", 65536)
  assert(ngx.timer.every(1, function() file:flush() end))
end

function bodies.keep(piece)
  if piece == "" then return end
  local context = ngx.ctx
  local pieces = context.pieces
  if pieces then pieces[#pieces + 1] = piece else context.pieces = { piece } end
end

function bodies.write()
  local request = ngx.req.get_body_data() or ""
  local answer = table.concat(ngx.ctx.pieces or {})
  local variables = ngx.var
  file:write(ngx.now(), " ", variables.request_method, " ", variables.request_uri, " ", ngx.status, " ", #request, " ",
    #answer, "\\n", request, "\\n", answer, "\\n")
end

return bodies
"""


class NginxLua(StartedPeer):
    """The process of nginx. ``log`` is the file with the bodies."""

    name = "nginx + Lua log"
    log = Path()


def missing_modules() -> list[str]:
    """Return the nginx modules that are missing from Debian's directory."""
    return [module.name for module in _MODULES if not module.exists()]


def start(bench: Bench, place: Path, upstream: Upstream) -> NginxLua:
    """Start nginx with the two modules that Debian packages separately."""
    if missing := missing_modules():
        raise NotInstalled(f"{', '.join(missing)} missing (Debian: apt-get install libnginx-mod-http-lua)")
    (place / "bodies.lua").write_text(_LUA)
    modules = "\n".join(f"load_module {module};" for module in _MODULES)
    port = new_port()
    http = _HTTP.format(place=place)
    path = configure(place, upstream, port, modules=modules, http=http, location=_LOCATION)
    peer = NginxLua(place, command(place, path), port, nginx_version(), NOTHING)
    peer.log = place / "bodies.log"
    return peer
