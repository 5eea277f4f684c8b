"""Hold the built page in memory. ``page`` has its two HTML documents, and ``assets`` has the files that they load.

hatch_build.py builds ``static/`` from dashboard/. ``static/`` is in the wheel and the sdist, not in git. This package
imports no other package of Relaybook; ``api`` serves the page.
"""
