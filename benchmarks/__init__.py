"""Measure the cost of Relaybook in comparison with nginx, and store the raw metrics.

``python -m benchmarks`` runs every part except ``big_log``, and ``python -m benchmarks streams memory`` runs two parts.
See docs/explanation/benchmarks.md.
"""
