"""Provide a simulated upstream and sample traffic for ``relaybook demo``, ``relaybook simulate`` and the tests.

Only those two commands import this package; nothing else in ``relaybook`` does.
"""
