"""Declare settings once (``definitions``) and read them from flags, environment variables, a file or defaults."""
