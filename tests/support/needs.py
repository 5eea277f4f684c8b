"""Skip tests that need a tool that is not a Python package. The terminal summary lists the skipped tests."""

import shutil
from typing import Final

import pytest

#: Prefix of the reason of such a skip, by which the terminal summary finds them.
PREFIX: Final = "needs "


def needs(tool: str) -> pytest.MarkDecorator:
    """Return a decorator that skips a test if the tool is not on the PATH: ``@needs("strace")``."""
    return pytest.mark.skipif(shutil.which(tool) is None, reason=PREFIX + tool)
