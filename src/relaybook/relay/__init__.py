"""Forward requests to the upstream and write every byte to the journal before it is sent.

The steps of an exchange::

    client ───head──▶ client_connection ──admission.check, admit─▶ Exchange.open      OPENED
           ───body──▶ client_connection ──framing──▶ request_chunk, request_end        SENT… REQUEST_END
                      relay.connect ─▶ pool, or dial ─▶ Exchange.connected
    upstream ─head──▶ upstream ─────────────────▶ Exchange.response_begin              RESPONSE_BEGIN
             ─body──▶ upstream ──framing────────▶ response_chunk                       RECEIVED…
    last byte is in the kernel ─▶ Exchange.response_sent                               CLOSED

The docstring of ``exchange`` has the tables of all states and ends. A request that is refused before admission does not
become an exchange. Instead, ``client_connection`` responds to the request and counts it.

``client_connection`` handles a connection to a client, and ``upstream`` handles a connection to the upstream.
``connection`` has the base class of both. An exchange uses the connections through the interfaces in ``peers``. The
modules ``request_head``, ``response_head``, ``header_rules``, ``head_cache``, ``framing``, ``client_framing``,
``cors``, ``response_lines`` and ``fingerprints`` do no I/O. ``gate`` ensures that the journal is written before bytes
are sent. ``context`` contains the state that the connections of a worker share. ``relay`` has the timers of a worker,
and ``worker`` runs the relay process.

The relay never parses a body, accesses a store, or repeats a request that was sent. After its start, the relay opens
only journal files.
"""
