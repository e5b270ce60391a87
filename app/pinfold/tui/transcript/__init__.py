"""The conversation as one line-API view."""
