"""Read request and response bodies into one model, and derive what the log says about them.

``reading`` reads a body with the format of its API, such as ``chat`` or ``message``. All formats build the model in
``conversation``. ``preview``, ``message_chain``, ``chat_export`` and others derive facts from the model. The modules
never raise, whatever bytes a body contains. docs/explanation/reading-bodies.md describes how each fact is derived.
"""

from relaybook.log.formats.reading import Reading, read_request, read_response

__all__ = ["Reading", "read_request", "read_response"]
