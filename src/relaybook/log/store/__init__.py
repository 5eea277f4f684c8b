"""Where finished requests are kept: the port (``port``) and its implementations, one package or module each."""
