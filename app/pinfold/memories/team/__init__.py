"""A team's shared memory in PostgreSQL, separate from the private memories."""
