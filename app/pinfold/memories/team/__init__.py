"""What a team remembers together, in PostgreSQL: a set of its own beside the private memories."""
