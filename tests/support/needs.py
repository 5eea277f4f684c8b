"""Marks tests that need a tool which Python does not bring; without it they are left out, and the end says so."""

import shutil
from typing import Final

import pytest

#: What the reason of such a skip begins with; the terminal summary looks for it.
PREFIX: Final = "needs "


def needs(tool: str) -> pytest.MarkDecorator:
    """``@needs("strace")``: the test runs only where the tool is on the PATH."""
    return pytest.mark.skipif(shutil.which(tool) is None, reason=PREFIX + tool)
