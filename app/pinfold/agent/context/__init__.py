"""The front of requests, and what the model is told when it changes."""
