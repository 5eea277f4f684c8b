"""The server: a supervisor, and the processes it starts. ``program`` puts it together.

Nothing is imported here, so that each process imports only what it needs: a relay that died is back the sooner.
"""
