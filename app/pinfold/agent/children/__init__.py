"""Agents: sessions that the model of another one starts."""
