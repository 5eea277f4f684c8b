"""The server consists of a supervisor and its child processes. ``program`` starts the server.

This file imports no module, so each process imports only the modules that it needs. As a result, a relay restarts fast
after it died.
"""
