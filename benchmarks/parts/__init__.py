"""The parts of the benchmark. Each module has ``run(bench)``, which measures and gives a ``Result``."""
