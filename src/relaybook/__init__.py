"""Relaybook: a proxy that forwards LLM requests unchanged and logs each of them under a namespace."""

__version__ = "0.1.0"
