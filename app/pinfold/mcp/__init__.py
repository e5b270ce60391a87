"""Servers that speak the Model Context Protocol: started, asked about, called.

Everything that a server sends is hostile. The SDK is imported in a thread, once a server starts.
"""
