"""The formats of sessions that can be adopted."""
