"""Define the parts of the benchmark.

Each module has a function ``run(bench)``, which measures and returns a ``Result``.
"""
