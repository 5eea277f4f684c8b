"""Packs: the files with the bodies and headers of requests, as compressed frames."""
