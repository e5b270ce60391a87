"""Endpoints that need no configuration: a key in the environment or a server on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinfold.providers.http_provider import Timeouts
from pinfold.settings import WireApi
from pinfold.tokens.catalog import first_model


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's address, key and wire."""

    base_url: str
    api_key_env: str | None = None
    """The variable that holds the key."""
    wire_api: WireApi | None = None
    """None is `responses` for OpenAI itself and `chat` for all others."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeouts: Timeouts = field(default_factory=Timeouts)


@dataclass(frozen=True, slots=True)
class Preset:
    """A well-known service and the model to begin with."""

    endpoint: Endpoint
    model: str


_SERVICES = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
}
SERVICES: Mapping[str, Preset] = {
    name: Preset(Endpoint(base_url, api_key_env), first_model(name))
    for name, (base_url, api_key_env) in _SERVICES.items()
}
"""By name, in the order in which their keys are looked for."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    title: str
    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


LOCAL_SERVERS = (
    LocalServer("ollama", "Ollama", 11434),
    LocalServer("lmstudio", "LM Studio", 1234),
    LocalServer("llamacpp", "llama.cpp", 8080),
    LocalServer("vllm", "vLLM", 8000),
)
"""In order of preference."""
