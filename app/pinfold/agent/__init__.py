"""A session: its turns, its window, its agents, and the journal of all of it."""
