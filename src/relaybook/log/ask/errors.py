"""Define the error of a question that has no answer."""


class AskError(Exception):
    """A question has no answer. The message says what is wrong and how to fix it.

    ``code`` is one of the codes of the API (see ``api/errors.py``). ``field`` is the name of the wrong parameter or
    field, or `None`. Only ``wrong_count`` has ``requests``, the number of finished requests that match.
    """

    def __init__(self, code: str, message: str, field: str | None = None, *, requests: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.requests = requests
