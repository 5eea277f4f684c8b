"""Replace what the log says about requests after their bodies were read again.

``rereads`` stores and lists the rereads. ``rereader`` reads the requests of a reread in slices. For each slice, one
transaction replaces the rows, counters and aggregates (``replacing``), and lists the requests in the table
``changed_texts``. The text index is another file, so the texts are replaced after this transaction. After a crash, the
table shows which texts are still to be replaced.
"""
