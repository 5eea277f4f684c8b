"""Skip tests that need a missing tool that is not a Python package. The terminal summary counts the skipped tests."""

import shutil
from typing import Final

import pytest

#: Prefix of the reason for a skip. The terminal summary finds the skipped tests by this prefix.
PREFIX: Final = "needs "


def needs(tool: str) -> pytest.MarkDecorator:
    """Return a decorator that skips a test if the tool is not on the PATH: ``@needs("strace")``."""
    return pytest.mark.skipif(shutil.which(tool) is None, reason=PREFIX + tool)
