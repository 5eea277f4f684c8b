"""The relay: moves bytes between callers and a provider, and sees that the journal has them first.

The life of an exchange::

    caller ──head──▶ downstream ──front.check, front.admit──▶ Exchange.open        OPENED
           ──body──▶ downstream ──framing──▶ request_piece, request_end            SENT… ASKED
                     relay.connect ─▶ pool, or dial ─▶ Exchange.connected
    provider ─head─▶ upstream ──────────▶ Exchange.answered                        ANSWERED
             ─body─▶ upstream ──framing──▶ answer_piece                            RECEIVED…
    kernel has the last byte ─▶ Exchange.handed_over ─▶ close("complete")          CLOSED

Every other edge arrives at ``Exchange.close`` by way of ``endings``: ``fail`` (the provider), ``caller_gone``,
``refuse_admitted`` (a limit), ``interrupt`` (we stop), ``abandon`` (the journal). What is refused before admission
never becomes an exchange: it is answered by ``downstream`` and counted.

Where things are: ``downstream`` and ``upstream`` are the two kinds of socket (``connection`` is what they share, and
``sides`` what an exchange may ask of them). Pure are ``request_head``, ``answer_head``, ``names``, ``head_memory``,
``framing``, ``caller_framing``, ``cors``, ``refuse`` and ``fingerprints``. ``gate`` keeps journal before wire;
``shared`` is what a worker's connections share, ``relay`` its clockwork, ``worker`` the process.

What it never does: parse a body, reach a store, retry what was sent, open a file that is not the journal.
"""
