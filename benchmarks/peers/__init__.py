"""Contain the compared proxies: one module each, with the interface ``benchmarks.peers.peer.Peer``."""
