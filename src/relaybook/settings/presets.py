"""List the presets of routes: for each provider, its URL and what its SDK and other clients need.

The upstream of a preset is the root of the provider's API, without a version such as ``/v1``. So all APIs of the
provider are below the mount of the route: in the base URL that the provider's documentation names, only the host is
replaced by the address of the relay and the mount. Sources: the documentation and SDKs of the providers.
"""

from typing import Final, NamedTuple


class Preset(NamedTuple):
    """What is known about a provider.

    ``upstream`` is `None` if each customer has a URL of their own; ``example`` is such a URL. ``base_path`` follows the
    mount in the base URL of the client, and ``variable`` is the environment variable from which the provider's SDK or
    command line reads the base URL. ``price_as`` is the provider's id in genai-prices, or `None` if the prices are
    unknown or there are none. ``paths`` are paths that only clients of this provider send, or their beginnings if they
    end with a slash.
    """

    name: str
    label: str
    upstream: str | None
    variable: str
    base_path: str
    price_as: str | None
    example: str = ""
    paths: tuple[str, ...] = ()


def _preset(
    name: str,
    label: str,
    upstream: str | None,
    price_as: str | None,
    *paths: str,
    base_path: str = "/v1",
    variable: str = "OPENAI_BASE_URL",
    example: str = "",
) -> Preset:
    return Preset(name, label, upstream, variable, base_path, price_as, example, paths)


PRESETS: Final = (
    _preset("openai", "OpenAI", "https://api.openai.com", "openai"),
    _preset(
        *("azure", "Azure OpenAI", None, "azure", "/openai/deployments/"),
        base_path="",
        variable="AZURE_OPENAI_ENDPOINT",
        example="https://my-resource.openai.azure.com",
    ),
    _preset(
        *("anthropic", "Anthropic", "https://api.anthropic.com", "anthropic"),
        base_path="",
        variable="ANTHROPIC_BASE_URL",
    ),
    _preset(
        *("gemini", "Gemini", "https://generativelanguage.googleapis.com", "google", "/v1beta/", "/v1alpha/"),
        base_path="",
        variable="GOOGLE_GEMINI_BASE_URL",
    ),
    _preset(
        *("vertex", "Vertex AI", "https://aiplatform.googleapis.com", "google", "/v1beta1/"),
        base_path="",
        variable="GOOGLE_VERTEX_BASE_URL",
    ),
    _preset(
        *("bedrock", "Amazon Bedrock", None, "aws"),
        base_path="/openai/v1",
        example="https://bedrock-runtime.us-east-1.amazonaws.com",
    ),
    _preset("openrouter", "OpenRouter", "https://openrouter.ai", "openrouter", base_path="/api/v1"),
    _preset("groq", "Groq", "https://api.groq.com", "groq", base_path="/openai/v1"),
    _preset("mistral", "Mistral", "https://api.mistral.ai", "mistral"),
    _preset("deepseek", "DeepSeek", "https://api.deepseek.com", "deepseek"),
    _preset("together", "Together AI", "https://api.together.xyz", "together"),
    _preset("fireworks", "Fireworks", "https://api.fireworks.ai", "fireworks", base_path="/inference/v1"),
    _preset("xai", "xAI", "https://api.x.ai", "x-ai"),
    _preset("perplexity", "Perplexity", "https://api.perplexity.ai", "perplexity", base_path=""),
    _preset(
        *("cohere", "Cohere", "https://api.cohere.com", "cohere", "/v2/chat", "/v2/embed", "/v2/rerank"),
        base_path="",
        variable="CO_API_URL",
    ),
    _preset("moonshot", "Moonshot", "https://api.moonshot.ai", "moonshotai"),
    _preset(
        *("ollama", "Ollama", "http://127.0.0.1:11434", None),
        *(
            "/api/chat",
            "/api/generate",
            "/api/embed",
            "/api/embeddings",
            "/api/tags",
            "/api/show",
            "/api/ps",
            "/api/version",
        ),
        base_path="",
        variable="OLLAMA_HOST",
    ),
    _preset("lmstudio", "LM Studio", "http://127.0.0.1:1234", None),
    _preset("vllm", "vLLM", "http://127.0.0.1:8000", None),
    _preset("llamacpp", "llama.cpp", "http://127.0.0.1:8080", None),
)
BY_NAME: Final[dict[str, Preset]] = {preset.name: preset for preset in PRESETS}
