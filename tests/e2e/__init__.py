"""Tests of the page in a real browser. A package, so that fixtures can have package scope."""
