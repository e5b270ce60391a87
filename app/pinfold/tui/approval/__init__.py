"""The approval card: asks the user about a call."""
