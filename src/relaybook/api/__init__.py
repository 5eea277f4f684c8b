"""Serve the dashboard's HTTP API, which the page, the command line and scripts use to read the log.

The API reads through a store's ``Reader``. The API itself writes only saved filters, feedback, and the labels of pinned
namespaces. The API queues deletions, and the recorder carries them out. The relay does not depend on this package.
``app.create_app`` builds the ASGI application, and ``uvicorn_server.DashboardServer`` runs the application under
uvicorn. docs/reference/api.md is generated from the OpenAPI document of the API.
"""
