"""Generate load: requests of several kinds, clients, upstreams, and journals as a relay writes them."""
