"""The commands of the command line, one module each. ``relaybook.cli.main`` declares them and their flags.

``tail`` and ``show`` read the log through ``source``: from a running server's API, or from the data directory.
"""
