"""The server: a supervisor and its child processes. ``program`` starts it.

Nothing is imported here, so that each process imports only what it needs and a relay that died restarts fast.
"""
