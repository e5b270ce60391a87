"""Tool arguments on their way back to a model."""

import json

from pinfold.rollout.arguments import parsed


def as_object(arguments: str) -> str:
    """The arguments as the model wrote them, if they are a JSON object.

    Models write JSON that is broken, or nested too deeply for any parser. Servers that parse it
    (llama.cpp, vLLM) would refuse every further request of the session, so it goes back wrapped
    in an object.
    """
    if parsed(arguments) is None:
        return json.dumps({"malformed": arguments})
    return arguments or "{}"
