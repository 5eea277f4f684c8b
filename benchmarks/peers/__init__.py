"""Run the compared proxies, with one module per proxy. All have the interface ``benchmarks.peers.peer.Peer``."""
