"""Measures what Relaybook costs, side by side with nginx, and keeps the raw figures.

``python -m benchmarks`` runs every part, ``python -m benchmarks streams memory`` runs two. See
docs/explanation/benchmarks.md.
"""
