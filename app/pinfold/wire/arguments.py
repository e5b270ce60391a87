"""Tool arguments on their way back to a model."""

import json


def as_object(arguments: str) -> str:
    """The arguments as the model wrote them, if they are a JSON object.

    Models write broken JSON now and then. Servers that parse it (llama.cpp, vLLM) would refuse
    every further request of the session, so it goes back wrapped in an object.
    """
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    return (arguments or "{}") if isinstance(value, dict) else json.dumps({"malformed": arguments})
