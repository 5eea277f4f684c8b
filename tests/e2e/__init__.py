"""Tests of the page in a real browser. The directory is a package, so that fixtures can have package scope."""
