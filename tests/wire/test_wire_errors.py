"""Bodies as servers send them, and the error that each stands for."""

import json
import re
from typing import Any

import pytest

from pinfold.ports.errors import (
    AuthenticationFailed,
    ContentRefused,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.wire.errors import ApiServer, from_answer

HERE = ApiServer("http://127.0.0.1:1234/v1")
OPENAI = ApiServer("https://api.openai.com/v1", "OPENAI_API_KEY", has_key=True)


def read(text: str) -> dict[str, tuple[int | None, int | None, int | None, Any]]:
    found = {}
    entries = re.findall(r"^(\S.*): (\S+) (\S+) (\S+)\n((?:  .*\n)+)", text, re.MULTILINE)
    for name, *numbers, lines in entries:
        body = " ".join(line.strip() for line in lines.splitlines())
        status, limit, tokens = (None if number == "-" else int(number) for number in numbers)
        found[name] = (status, limit, tokens, json.loads(body) if body[0] in "[{" else body)
    return found


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def told(body: Any, status: int | None, server: ApiServer = OPENAI) -> ProviderError:
    return from_answer(body, server, status=status)


OVERFLOWS = read("""
OpenAI, chat: 400 8192 8227
  {"error": {"message": "This model's maximum context length is 8192 tokens. However, your messages
  resulted in 8227 tokens. Please reduce the length of the messages.", "code":
  "context_length_exceeded"}}
OpenAI, within a responses stream: - - -
  {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this
  model. Please adjust your input and try again."}
OpenAI, more than a minute's allowance: 429 - -
  {"error": {"message": "Request too large for gpt-4o in organization org-x on tokens per min
  (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced.", "code":
  "rate_limit_exceeded"}}
llama.cpp: 400 4096 9031
  {"error": {"code": 400, "message": "request (9031 tokens) exceeds the available context size
  (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9031,
  "n_ctx": 4096}}
vLLM: 400 6048 568
  {"message": "This model's maximum context length is 6048 tokens. However, you requested 6616
  tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or
  completion.", "code": 400}
vLLM, where the reply has no room: 400 - -
  {"message": "max_tokens must be at least 1, got -186.", "code": 400}
vLLM, another way: 400 32768 40960
  {"message": "The decoder prompt (length 40960) is longer than the maximum model length of 32768.
  Make sure that `max_model_len` is no smaller than the number of tokens.", "code": 400}
vLLM, newer: 400 131072 99073
  {"error": {"message": "You passed 99073 input tokens and requested 32000 output tokens. However,
  the model's context length is only 131072 tokens, resulting in a maximum input length of 99072
  tokens. Please reduce the length of the input prompt.", "code": 400}}
vLLM, where the reply is asked to be too long: 400 4096 2778
  {"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's
  maximum context length is 4096 tokens and your request has 2778 input tokens (8000 > 4096 -
  2778). None", "code": 400}}
llama.cpp, older: 400 8192 14429
  {"error": {"code": 400, "message": "the request exceeds the available context size. try
  increasing the context size or enable context shift", "type": "exceed_context_size_error",
  "n_prompt_tokens": 14429, "n_ctx": 8192}}
llama.cpp, while it writes: 500 - -
  {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}
llama-cpp-python: 400 2048 2285
  {"error": {"message": "Requested tokens (2285) exceed context window of 2048"}}
Together: 400 262144 516368
  {"error": {"message": "The input (516368 tokens) is longer than the model's context length
  (262144 tokens)."}}
Text Generation Inference: 422 4096 -
  {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given:
  4000 `inputs` tokens and 512 `max_new_tokens`"}
DashScope: 400 129024 -
  {"error": {"message": "Range of input length should be [1, 129024]"}}
xAI: 400 131072 537812
  {"code": "invalid-argument", "error": "This model's maximum prompt length is 131072 but the
  request contains 537812 tokens."}
Ollama: 400 - -
  {"error": {"message": "prompt too long; exceeded max context length by 1282 tokens"}}
Ollama, its runner: 500 - -
  {"error": "input exceeds context length"}
OpenRouter: 400 32768 42832
  {"error": {"message": "This endpoint's maximum context length is 32768 tokens. However, you
  requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or
  use the \\"middle-out\\" transform.", "code": 400}}
OpenRouter, for the provider behind it: 502 16000 -
  {"error": {"message": "Provider returned error", "code": 502, "metadata": {"provider_name":
  "DeepInfra", "raw": "{\\"message\\":\\"This model's maximum context length is 16000
  tokens.\\"}"}}}
LM Studio: 400 4096 15857
  {"error": "Trying to keep the first 15857 tokens when context the overflows. However, the model
  is loaded with context length of only 4096 tokens, which is not enough."}
LM Studio, its engine: 400 7424 15028
  {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}
LM Studio, newer: 400 - -
  {"error": "The number of tokens to keep from the initial prompt is greater than the context
  length. Try to load the model with a larger context length."}
Anthropic gateway: 400 200000 200251
  {"error": {"message": "prompt is too long: 200251 tokens > 200000 maximum"}}
Anthropic, prompt and reply together: 400 200000 -
  {"error": {"message": "input length and `max_tokens` exceed context limit: 199759 + 8192 >
  200000, decrease input length or `max_tokens` and try again"}}
Anthropic, the body itself: 413 - -
  {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
Mistral: 400 32768 65673
  {"message": "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768
  maximum context length", "code": 3051}
Gemini: 400 1048576 1200000
  [{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number
  of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}]
Moonshot: 400 131072 -
  {"error": {"message": "Invalid request: Your request exceeded model token limit: 131072"}}
a proxy with a limit of its own: 413 - -
  <html><h1>413 Payload Too Large</h1></html>
""")
"""By server: the status, the window and the request's tokens where it tells them; the body."""
OF_NO_WINDOW = {
    "OpenAI, more than a minute's allowance",
    "Anthropic, the body itself",
    "a proxy with a limit of its own",
}


@pytest.mark.parametrize("server", OVERFLOWS)
def test_an_overflow_is_told_apart_with_its_figures(server: str) -> None:
    status, limit, tokens, body = OVERFLOWS[server]
    found = told(body, status)
    assert isinstance(found, ContextOverflow)
    assert (found.limit, found.tokens) == (limit, tokens)
    assert found.of_window == (server not in OF_NO_WINDOW)


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached: this model's maximum context length is 8192 tokens per minute",
        "maximum context length is 8192 tokens (TPM)",
    ],
)
def test_an_allowance_is_no_window(message: str) -> None:
    found = told(error(message), 400)
    assert isinstance(found, ContextOverflow)
    assert (found.of_window, found.limit) == (False, None)


@pytest.mark.parametrize("figure", ["7", "0", "9" * 15])
def test_a_figure_that_can_be_no_windows_is_none(figure: str) -> None:
    found = told(error(f"maximum context length is {figure} tokens"), 400)
    assert isinstance(found, ContextOverflow)
    assert found.limit is None


OTHERS: list[tuple[int | None, Any, type[ProviderError], str]] = [
    (
        429,
        error(
            "You exceeded your current quota, please check your plan and billing.",
            type="insufficient_quota",
            code="insufficient_quota",
        ),
        RequestRejected,
        "no credit left",
    ),
    (
        429,
        [error("You exceeded your current quota. Retry in 34.07s.", code=429)],
        RateLimited,
        "Retry in",
    ),
    (402, error("Insufficient Balance"), RequestRejected, "no credit left"),
    (
        429,
        error(
            "Rate limit reached for gpt-4o on tokens per min. Please try again in 1.2s.",
            code="rate_limit_exceeded",
        ),
        RateLimited,
        "is limiting the rate",
    ),
    (None, {"message": "slow down", "code": "rate_limit_exceeded"}, RateLimited, "slow down"),
    (
        401,
        error("Incorrect API key provided: sk-1", code="invalid_api_key"),
        AuthenticationFailed,
        "api.openai.com refused the key in OPENAI_API_KEY",
    ),
    (503, error("Loading model", code=503), Overloaded, "Loading model"),
    (529, error("Overloaded", type="overloaded_error"), Overloaded, "529"),
    (500, "<html>Bad gateway</html>", Overloaded, "(500)"),
    (None, {"message": "upstream failed", "code": 502}, Overloaded, "(502)"),
    (
        400,
        error(
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy.",
            code="content_filter",
        ),
        ContentRefused,
        "refused the content",
    ),
    (403, error("Your input was flagged for harassment", code=403), ContentRefused, "flagged"),
    (
        404,
        error("The model `gpt-9` does not exist", code="model_not_found"),
        RequestRejected,
        "`gpt-9` does not exist",
    ),
    (404, {"detail": "Not Found"}, RequestRejected, "check the base URL"),
    (404, "<!DOCTYPE html><html>", RequestRejected, "check the base URL"),
    (422, {"detail": [{"msg": "field required"}]}, RequestRejected, "field required"),
    (400, error("bad \x1b[31mparameter"), RequestRejected, "bad [31mparameter"),
    (400, None, RequestRejected, "refused the request (400)"),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), OTHERS)
def test_every_other_failure_has_its_kind_and_a_plain_sentence(
    status: int | None, body: Any, kind: type[ProviderError], words: str
) -> None:
    found = told(body, status)
    assert type(found) is kind
    assert words in str(found)
    assert "\n" not in str(found)


def test_a_missing_key_is_asked_for_by_its_variable() -> None:
    server = ApiServer("https://api.openai.com/v1", "OPENAI_API_KEY")
    assert "set OPENAI_API_KEY" in str(told(error("no"), 401, server))
    assert "api_key_env" in str(told(error("no"), 401, HERE))


def test_a_long_answer_is_cut() -> None:
    assert len(str(told(error("x" * 5_000), 400))) < 400


def test_the_wait_that_the_message_names_is_kept() -> None:
    assert told(error("Please try again in 1.5s."), 429).retry_after == 1.5
