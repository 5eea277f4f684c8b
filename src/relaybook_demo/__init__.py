"""Provide a simulated upstream and sample traffic for ``relaybook demo``, ``relaybook simulate`` and the tests.

Within ``relaybook``, only these two commands import this package.
"""
