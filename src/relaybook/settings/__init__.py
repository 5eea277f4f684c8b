"""Settings: each is declared once (``definitions``) and read from flags, variables, a file or its default."""
