"""Serve logged responses to clients: ``relaybook replay``.

This package answers from the log alone. It opens no connection but to the log, and changes nothing in the log.
"""
