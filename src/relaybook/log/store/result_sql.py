"""Define an SQL expression that returns the same result code as ``row.result_of``, for stores in SQL databases."""

from collections.abc import Mapping
from typing import Any, Final

from relaybook.log.finish_reasons import FINISH_REASONS
from relaybook.log.row import ERROR_STATUSES, FINISHES, LOG_ERRORS, UNUSABLE_RESPONSES, UPSTREAM_FAILURES


def _cases(column: str, results: Mapping[Any, str], otherwise: str) -> str:
    """Return an SQL CASE expression that maps the values of a column to result codes, and others to ``otherwise``."""
    whens = " ".join(f"WHEN {value!r} THEN {code!r}" for value, code in results.items())
    return f"CASE {column} {whens} ELSE {otherwise!r} END"


_FROM_LOG_ERROR: Final = dict.fromkeys(LOG_ERRORS, "log_failed")
_FROM_FAILURE: Final = {code: code for code in UPSTREAM_FAILURES}
_FROM_STATUS: Final = {status: code for status, (code, _) in ERROR_STATUSES.items()}
#: The finish reasons of a request as one text, with a comma before and after each reason. ``replace`` removes a reason
#: from this text. If the result differs from the text, the request has this reason. SQLite and ClickHouse both have
#: ``replace``.
_REASONS: Final = "(',' || r.finish_reason || ',')"
_FROM_FINISH: Final = " ".join(
    f"WHEN replace({_REASONS}, ',{reason},', '') <> {_REASONS} THEN {FINISHES[finish][0]!r}"
    for reason, finish in FINISH_REASONS.items()
)
#: An SQL expression on ``requests AS r`` for the result of a request, with the same results as ``row.result_of``. All
#: parts are constants in this program, so the SQL contains no values from requests.
RESULT: Final = f"""CASE
  WHEN r.outcome = 'open' THEN 'running'
  WHEN r.outcome = 'client_closed' AND r.failed = 0 THEN 'client_disconnected'
  WHEN r.outcome = 'interrupted' THEN {_cases("r.error_code", _FROM_LOG_ERROR, "relay_stopped")}
  WHEN r.outcome = 'refused' THEN 'refused'
  WHEN r.outcome = 'upstream_failed' THEN {_cases("r.error_code", _FROM_FAILURE, "upstream_failed")}
  WHEN r.status >= 400 THEN {_cases("r.status", _FROM_STATUS, "error")}
  WHEN r.failed = 1 THEN {_cases("r.error_code", UNUSABLE_RESPONSES, "error_in_response")}
  {_FROM_FINISH}
  ELSE 'complete'
END"""
