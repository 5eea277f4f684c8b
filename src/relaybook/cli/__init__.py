"""Implement the commands of the command line, one module each.

``relaybook.cli.main`` declares the commands and their flags. Commands read the log through ``source``, either from a
running server's API or from the data directory.
"""
