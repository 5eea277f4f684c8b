"""The relay: moves bytes between callers and a provider, and sees that the journal has them first.

The life of an exchange::

    caller ──head──▶ downstream ──front.check, front.admit──▶ Exchange.open        OPENED
           ──body──▶ downstream ──framing──▶ request_piece, request_end            SENT… ASKED
                     relay.connect ─▶ pool, or dial ─▶ Exchange.connected
    provider ─head─▶ upstream ──────────▶ Exchange.answered                        ANSWERED
             ─body─▶ upstream ──framing──▶ answer_piece                            RECEIVED…
    kernel has the last byte ─▶ Exchange.handed_over ─▶ close("complete")          CLOSED

Every other edge arrives at ``Exchange.close`` too: ``fail`` (the provider), ``caller_gone``, ``refuse`` (a limit after
admission), ``interrupt`` (we stop), ``abandon`` (the journal). What is refused before admission never becomes an
exchange: it is answered by ``downstream`` and counted.

Where things are: ``downstream`` and ``upstream`` are the two sides of a socket (``connection`` is what they share);
``request_head``, ``answer_head``, ``names``, ``framing`` and ``refuse`` are pure; ``gate`` keeps journal before wire;
``relay`` is what a worker's connections share; ``worker`` is the process.

What it never does: parse a body, reach a store, retry what was sent, open a file that is not the journal.
"""
