"""What Relaybook is compared with: one module per proxy, each with the face of ``benchmarks.peers.peer.Peer``."""
