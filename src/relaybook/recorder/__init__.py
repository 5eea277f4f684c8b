"""The recorder: reads the journal behind the relays and writes records into the store.

``fold`` turns frames into exchanges, ``understand`` an exchange into an entry of the log, ``loop`` reads, commits and
cleans up, ``prices`` knows what tokens cost. Slow is harmless here: the relay waits for none of it.
"""
