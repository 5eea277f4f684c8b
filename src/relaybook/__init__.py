"""Relaybook: relays every request to a language-model provider faithfully and logs it under a namespace."""

__version__ = "0.1.0"
