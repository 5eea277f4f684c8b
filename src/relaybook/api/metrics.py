"""Serves /metrics for Prometheus."""

from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import document
from relaybook.api.options import options_of
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.status import frames_lost
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Reader

routes = Routes("status")

#: The text format every Prometheus understands.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@routes.get("/metrics", document.reads(None, media_type="text/plain"))
async def get_metrics(request: Request) -> Response:
    """Return metrics in the text format of Prometheus. See docs/reference/metrics.md."""
    probe = options_of(request).probe

    def question(reader: Reader) -> bytes:
        # Imported by the first scrape: the start of the dashboard does not wait for prometheus_client.
        from relaybook.api.prometheus import render

        lost = frames_lost(reader.gaps(0))
        return render(reader.status(), len(reader.running(Filter())), lost, probe.figures())

    return Response(await reading_of(request).ask(question), headers={"Content-Type": CONTENT_TYPE})
