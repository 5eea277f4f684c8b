"""Forward requests to the upstream and write every byte to the journal before it is sent.

The steps of an exchange::

    client ───head──▶ downstream ──admission.check, admit─▶ Exchange.open          OPENED
           ───body──▶ downstream ──framing──▶ request_chunk, request_end            SENT… ASKED
                      relay.connect ─▶ pool, or dial ─▶ Exchange.connected
    upstream ─head──▶ upstream ──────────▶ Exchange.response_begin                  ANSWERED
             ─body──▶ upstream ──framing──▶ response_chunk                          RECEIVED…
    last byte is in the kernel ─▶ Exchange.response_sent                            CLOSED

``exchange`` has the table of all states and ends. A request that is refused before admission does not become an
exchange: ``downstream`` responds to it and counts it.

Modules: ``downstream`` and ``upstream`` are the client's and the upstream's connection (``connection`` is their base
class, ``peers`` the interface that an exchange uses). ``request_head``, ``response_head``, ``header_rules``,
``head_cache``, ``framing``, ``client_framing``, ``cors``, ``refuse`` and ``fingerprints`` are pure. ``gate`` ensures
that the journal is written before bytes are sent. ``context`` is the state that the connections of a worker share.
``relay`` has the worker's timers, and ``worker`` is its process.

The relay never parses a body, accesses a store, or repeats a request that was sent. After its start, it opens no file
other than the journal.
"""
