"""Measure the cost of Relaybook next to nginx, and store the raw metrics.

``python -m benchmarks`` runs every part, ``python -m benchmarks streams memory`` runs two. See
docs/explanation/benchmarks.md.
"""
