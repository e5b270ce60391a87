"""A recording, played into a session."""
