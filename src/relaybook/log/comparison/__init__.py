"""Compare two requests: their facts, parameters, tools, messages and responses."""
