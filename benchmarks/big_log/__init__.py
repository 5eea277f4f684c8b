"""A log of any size that imitates the traffic of a busy shop.

Half of the records have one of eight labels and are independent requests. The other half belong to 200,000 users, whose
conversations grow turn by turn. The same recipe creates exactly the same log (``facts``). ``benchmarks.parts.big_log``
measures queries on such a log.
"""
