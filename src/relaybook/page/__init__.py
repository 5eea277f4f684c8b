"""The built page, held in memory: ``page`` its two documents, ``assets`` the files they load.

``static/`` is built out of dashboard/ by hatch_build.py; it is in the wheel and the sdist, not in git. Nothing here
knows of requests or of the log; ``api`` serves it.
"""
