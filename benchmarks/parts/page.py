"""This part measures the dashboard in Chromium on a log of a million requests.

*First rows* is the time from the start of the page load until the first row is shown. *Filter change* is the time from
a click on a namespace until all visible rows match. A *blank frame* has no row in the middle of the table.
"""

import json
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx2
from playwright.sync_api import Browser, Page
from tests.support.browser import chromium
from tests.support.records import REQUEST, an_entry, traffic

from benchmarks.bench import Bench, Relaybook
from benchmarks.results.figures import Result
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.writer import SqliteWriter

METHOD = (
    "1,000,000 records in the store (three in ten belong to one of 5,000 users), `relaybook serve`, headless "
    "Chromium at 1440 × 900, every load in a new context with an empty cache. First rows: from the start of "
    "navigation to the frame after the first row is in the document. Filter change: from a click on a namespace in a "
    "row to the frame after all visible rows match, 20 clicks. JavaScript: bytes as transferred (gzip) of all "
    "scripts requested before the first rows. Scrolling: 1,200 px (40 rows) per frame until 100,000 rows have "
    "passed; a blank frame has no row in the middle of the table. Live rows: with these rows loaded and the first row "
    "in view, 40 requests are sent to the relay, one after the other; the figure is Chromium's script time until 2 "
    "seconds later, minus that of 2 seconds without a request, 9 times. The page shows them in batches, at first every "
    "80 ms and then every second. 5 MB response: the longest task is the "
    "longest one the browser reports until the text of the opened response is shown."
)
_RECORDS: Final = 1_000_000
_BATCH: Final = 5_000
_LIVE_ROWS: Final = 40
_BATCH_SHOWN_MS: Final = 2_000
_LARGE_ID: Final = "01a20000-0000-7000-8000-000000000001"

#: JavaScript that records when the first row is in the document, and when the next frame is shown.
_WATCH: Final = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("tr[data-request]")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.firstRowsMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: "longtask" });
"""
#: JavaScript that counts the batches in which live rows appear.
_COUNT_BATCHES: Final = """() => {
  const first = () => document.querySelector("tr[data-request]").dataset.request;
  let last = first();
  window.batches = 0;
  new MutationObserver(() => {
    if (first() === last) return;
    last = first();
    window.batches++;
  }).observe(document.querySelector("tbody"), { childList: true });
}"""
_SCRIPTS: Final = """performance.getEntriesByType("resource")
  .filter((each) => each.name.endsWith(".js") && each.responseEnd <= window.firstRowsMs)
  .map((each) => ({ name: each.name.split("/").pop(), bytes: each.encodedBodySize }))"""
#: JavaScript that clicks the namespace of the middle row, and returns the milliseconds until all visible rows have this
#: namespace.
_SELECT: Final = """(wanted) => new Promise((done) => {
  const chips = () => [...document.querySelectorAll('tr[data-request] a[data-field="namespace"]')];
  const ids = () => [...document.querySelectorAll("tr[data-request]")].map((row) => row.dataset.request).join();
  const before = ids();
  const chip = chips().find((each) => each.dataset.value === wanted);
  const began = performance.now();
  const look = () => {
    const shown = chips().map((each) => each.dataset.value);
    // The page hides the column of the namespace, because all rows have the same.
    if (ids() !== before && shown.every((each) => each === wanted) && location.search.includes("namespace="))
      requestAnimationFrame(() => done(performance.now() - began));
    else requestAnimationFrame(look);
  };
  chip.click();
  look();
})"""
_IS_WHOLE: Final = """() =>
  new Set([...document.querySelectorAll('tr [data-field="namespace"]')].map((chip) => chip.dataset.value)).size > 2"""
_SCROLL: Final = """(rows) => new Promise((done) => {
  const log = document.querySelector("[data-log]");
  const box = log.getBoundingClientRect();
  let frames = 0, blanks = 0, waits = 0, before = -1, stuckSince = 0;
  const began = performance.now();
  const step = () => {
    frames++;
    const middle = document.elementFromPoint(box.left + 300, box.top + box.height / 2);
    if (!middle?.closest("tr[data-request]")) blanks++;
    if (log.scrollTop === before) waits++; else stuckSince = performance.now();
    before = log.scrollTop;
    if (log.scrollTop >= rows * 30 || performance.now() - stuckSince > 10000)
      return done({ frames, blanks, waits, rows: log.scrollTop / 30, ms: performance.now() - began });
    log.scrollTop += 1200;
    requestAnimationFrame(step);
  };
  step();
})"""


def run(bench: Bench) -> Result:
    """Measure nine loads, twenty changes of the filter, one long scroll and one large body, on one store."""
    result = Result("page", METHOD)
    records = 20_000 if bench.quick else _RECORDS
    data = bench.place("relay") / "data"
    _fill(data / "store", records)
    with Relaybook(bench, "relay", "http://127.0.0.1:9/v1") as relay, chromium() as browser:
        loads = [_load(browser, relay.dashboard) for _ in range(bench.rounds(9))]
        selects = _select(browser, relay.dashboard, bench.rounds(20))
        scroll, live = _scroll(browser, relay, min(records, 100_000) - 1000, bench.rounds(9))
        large = _open_large(browser, relay.dashboard)
    result.rounds += [
        *loads,
        {"filter_changes_ms": selects, "scroll": scroll, "live_rows_ms_and_batches": live, "large": large},
    ]
    result.add("JavaScript before the first rows, gzip", loads[0]["script_bytes"] / 1000, "kB", 250)
    result.add("first rows, median", median(each["first_rows_ms"] for each in loads), "ms", 1000)
    result.add("filter change, median", median(selects), "ms", 200)
    result.add("filter change, slowest", max(selects), "ms")
    result.add("rows scrolled", scroll["rows"], "")
    result.add("blank frames while scrolling", scroll["blanks"], "", 0)
    result.add("frames spent waiting for rows", scroll["waits"], "")
    result.add("40 live rows above 100,000 rows: script time, median", median(spent for spent, _ in live), "ms")
    result.add("40 live rows above 100,000 rows: batches, median", median(count for _, count in live), "")
    result.add("a batch of live rows: script time, median", median(spent / count for spent, count in live), "ms", 16)
    result.add("5 MB response: time until shown", large["shown_ms"], "ms")
    result.add("5 MB response: longest browser task", large["longest_task_ms"], "ms")
    return result


def _fill(directory: Path, records: int) -> None:
    make = traffic(seed=1)
    directory.mkdir(parents=True, mode=0o700)
    writer = SqliteWriter(directory)
    for _ in range(records // _BATCH):
        writer.commit(Batch(entries=[make() for _ in range(_BATCH)]))
    text = "All work and no play makes a long answer. " * 125_000
    answer = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}).encode()
    writer.commit(Batch(entries=[an_entry(REQUEST, answer, id=_LARGE_ID, namespace="large")]))
    writer.close()


def _open(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(_WATCH)
    page.goto(url)
    page.wait_for_function("() => window.firstRowsMs !== undefined")
    return page


def _load(browser: Browser, dashboard: str) -> dict[str, Any]:
    page = _open(browser, f"{dashboard}/requests")
    scripts = page.evaluate(_SCRIPTS)
    first_rows_ms = page.evaluate("window.firstRowsMs")
    page.context.close()
    script_bytes = sum(each["bytes"] for each in scripts)
    return {"first_rows_ms": first_rows_ms, "script_bytes": script_bytes, "scripts": scripts}


def _select(browser: Browser, dashboard: str, times: int) -> list[float]:
    page = _open(browser, f"{dashboard}/requests")
    found = []
    for at in range(times):
        values = page.eval_on_selector_all(
            'tr[data-request] a[data-field="namespace"]', "chips => chips.map(chip => chip.dataset.value)"
        )
        found.append(page.evaluate(_SELECT, values[at % len(values)]))
        page.go_back()
        page.wait_for_function(_IS_WHOLE)
    page.context.close()
    return found


def _scroll(
    browser: Browser, relay: Relaybook, rows: int, times: int
) -> tuple[dict[str, float], list[tuple[float, int]]]:
    page = _open(browser, f"{relay.dashboard}/requests")
    page.set_default_timeout(180_000)
    figures: dict[str, float] = page.evaluate(_SCROLL, rows)
    page.evaluate("document.querySelector('[data-log]').scrollTop = 0")
    page.wait_for_timeout(_BATCH_SHOWN_MS)
    scripts = [_live_rows(page, relay) for _ in range(times)]
    page.context.close()
    return figures, scripts


def _live_rows(page: Page, relay: Relaybook) -> tuple[float, int]:
    """Return the milliseconds of script that new rows above the first rows need, and the number of their batches."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def script_ms() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(float(each["value"]) for each in metrics if each["name"] == "ScriptDuration")

    first = script_ms()
    page.wait_for_timeout(_BATCH_SHOWN_MS)
    idle = script_ms()
    page.evaluate(_COUNT_BATCHES)
    with httpx2.Client() as client:
        ids = [
            client.post(f"{relay.base_url}/chat/completions", content=REQUEST).headers["service-request-id"]
            for _ in range(_LIVE_ROWS)
        ]
    page.wait_for_timeout(_BATCH_SHOWN_MS)
    spent = script_ms() - idle - (idle - first)
    page.locator(f'tr[data-request="{ids[-1]}"]').wait_for()
    session.detach()
    return spent, page.evaluate("window.batches")


def _open_large(browser: Browser, dashboard: str) -> dict[str, float]:
    page = _open(browser, f"{dashboard}/requests?namespace=large")
    page.evaluate("window.longest = 0; window.began = performance.now()")
    page.locator(f'tr[data-request="{_LARGE_ID}"] a[data-open]').click()
    page.locator("[data-drawer]").get_by_text("All work and no play").first.wait_for()
    shown_ms = page.evaluate("performance.now() - window.began")
    page.evaluate("() => new Promise((done) => requestIdleCallback(() => done(true)))")
    longest = page.evaluate("window.longest")
    page.context.close()
    return {"shown_ms": shown_ms, "longest_task_ms": longest}
