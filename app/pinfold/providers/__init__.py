"""Models: any OpenAI-compatible endpoint, the embedded one, and none at all."""
