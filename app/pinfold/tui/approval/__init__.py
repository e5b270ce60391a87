"""The approval card: a call that needs the user's word."""
