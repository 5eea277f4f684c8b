"""Respond to requests in the format of each API: one module per API, and the names of all models."""
