"""Open the pages of the built documentation in Chromium: ``python -m tests.deploy.check_site build/site``.

The page 404.html is skipped. Exits with 1 if a page requests anything from another host, or requests a missing file.
"""

import functools
import http.server
import sys
import threading
from pathlib import Path

from playwright.sync_api import Request, Response
from tests.support.browser import chromium


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the parameter
        pass


def check(site: Path) -> bool:
    """Open the pages one after another, and return whether all requests were for existing files of the site."""
    pages = sorted(site.rglob("*.html"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}/"
    foreign: list[str] = []
    missing: list[str] = []
    count = 0

    def on_request(request: Request) -> None:
        nonlocal count
        count += 1
        if not request.url.startswith((origin, "data:", "blob:")):
            foreign.append(request.url)

    def on_response(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    with chromium() as browser:
        tab = browser.new_page()
        tab.on("request", on_request)
        tab.on("response", on_response)
        for page in pages:
            if page.name != "404.html":  # 404.html has absolute paths for the root of a host
                tab.goto(origin + page.relative_to(site).as_posix(), wait_until="networkidle")
    server.shutdown()
    print(f"{len(pages)} pages, {count} requests, {len(foreign)} to other hosts, {len(missing)} failed")
    print("\n".join(sorted({*foreign, *missing})), end="")
    return bool(pages) and not foreign and not missing


if __name__ == "__main__":
    sys.exit(0 if check(Path(sys.argv[1])) else 1)
