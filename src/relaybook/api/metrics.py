"""Serve /metrics for Prometheus."""

from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.options import options_of
from relaybook.api.routes import Routes
from relaybook.api.status import frames_lost
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter

routes = Routes("status")

#: The text format that all versions of Prometheus support.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@routes.get("/metrics", openapi.describe(None, media_type="text/plain"))
async def get_metrics(request: Request) -> Response:
    """Return metrics in the text format of Prometheus. See docs/reference/metrics.md."""
    probe = options_of(request).probe

    def question(asker: Asker) -> bytes:
        # Imported on the first scrape, so that importing prometheus_client does not delay startup.
        from relaybook.api.prometheus import render

        lost = frames_lost(asker.gaps())
        return render(asker.status(), len(asker.running(Filter())), lost, probe.read())

    return Response(await async_asker_of(request).run(question), headers={"Content-Type": CONTENT_TYPE})
