"""The recorder reads the journal that the relays write, and writes records to the store.

``fold`` assembles exchanges from frames. ``entry_builder`` converts an exchange into an entry of the log. ``loop``
reads the journal, commits batches and removes recorded segments. The relay does not wait for the recorder, so the
recorder may be slow.
"""
