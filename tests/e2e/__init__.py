"""The page in a real browser. A package, so that fixtures can last as long as its tests."""
