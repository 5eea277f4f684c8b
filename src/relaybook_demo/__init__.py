"""A simulated provider and sample traffic, for ``relaybook demo``, ``relaybook simulate`` and the tests.

Nothing in ``relaybook`` imports this package, except for those two commands.
"""
