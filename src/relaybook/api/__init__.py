"""The dashboard's HTTP API: reads the log for the page, for the command line and for scripts.

It only ever asks a store's ``Reader``; it never writes and the relay does not know it. ``app.create_app`` builds the
ASGI application, ``server.DashboardServer`` runs it under uvicorn. docs/reference/api.md is generated from it.
"""
