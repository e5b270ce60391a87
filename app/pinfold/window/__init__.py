"""The window: what the next request carries, as a projection of the journal."""
