"""Other tools' sessions, read as events."""
