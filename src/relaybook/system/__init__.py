"""Use the operating system: files, locks and the pipe to the supervisor."""
