"""What the command line's commands do, one module each; ``relaybook.cli.main`` declares them and their flags.

``tail`` and ``show`` read the log through ``source``: a running server's API, else the data directory.
"""
