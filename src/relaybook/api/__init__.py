"""Serve the dashboard's HTTP API, which the page, the command line and scripts use to read the log.

The API reads through a store's ``Reader``. It writes only labels, saved filters, feedback and requests for deletions.
The relay does not depend on it. ``app.create_app`` builds the ASGI application; ``uvicorn_server.DashboardServer`` runs
it under uvicorn. docs/reference/api.md is generated from it.
"""
