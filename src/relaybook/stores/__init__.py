"""Where finished requests are kept: the port (``base``) and its implementations, one package or module each."""
