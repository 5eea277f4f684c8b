"""Remove requests, or only their content, and erase their bytes.

Bytes leave the log in this order:

1. A deletion (``deletions``, ``deletion_pass``) or retention (``retention_pass``) selects requests. ``remover`` removes
   their rows in one transaction with all counters, and lists their frames and texts in the tables ``removed_frames``
   and ``removed_texts``. From then on, no answer has the requests.
2. ``rebasing`` stores frames again whose base was removed, because they could not be read without it.
3. ``reclaiming`` overwrites the listed frames in the packs, deletes packs that are empty, removes the listed texts from
   the text index, and frees pages.
4. ``deletion_pass`` rewrites the text index, truncates the WALs, and waits until the journal has no segment with the
   requests. Then the deletion is done.

Every step can be repeated, so a crash anywhere does no harm.
"""
