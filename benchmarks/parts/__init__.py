"""Contain the parts of the benchmark. Each module has ``run(bench)``, which measures and returns a ``Result``."""
