"""Screens above the screen, each imported when it is first opened."""
