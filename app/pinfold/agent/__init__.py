"""The loop from a prompt to rest, and the session that journals it."""
