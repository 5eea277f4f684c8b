"""Measure Relaybook and other proxies with the same load. ``benchmarks.parts.comparison`` runs all measurements."""
