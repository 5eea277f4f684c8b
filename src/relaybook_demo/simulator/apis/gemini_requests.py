"""Declare the parts of requests to Google's Gemini API that a simulated response depends on.

All other parameters are accepted and ignored. Names of fields may be written in camel case or in snake case, and a
single value may stand for a list of one value, as in Google's API.
"""

from typing import Any, Final, TypeVar

import msgspec

from relaybook_demo.simulator.requests import ChatRequest, Function, JsonSchema, Message, ResponseFormat, Tool

#: Fields with values of the caller, whose keys are not names of fields.
_OPAQUE: Final = frozenset(
    ("args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema", "metadata")
)
_TOOL_CHOICES: Final = {"ANY": "required", "NONE": "none"}

T = TypeVar("T")


class InvalidBody(ValueError):
    """The body is not JSON, or a field has the wrong type."""


class FunctionResponse(msgspec.Struct, rename="camel"):
    """The result of a function."""

    name: str = ""
    response: dict[str, Any] = {}


class Part(msgspec.Struct, rename="camel"):
    """One part of a content. Parts without text, such as images, count as 0 tokens."""

    text: str | None = None
    thought: bool = False
    function_response: FunctionResponse | None = None


class Content(msgspec.Struct, rename="camel"):
    """One message. The role ``model`` is the model's."""

    parts: list[Part] | Part = []
    role: str = "user"

    @property
    def text(self) -> str:
        """The text of the parts, without thoughts. The parts are joined by newlines."""
        return "\n".join(part.text for part in _list(self.parts) if part.text is not None and not part.thought)

    def messages(self) -> list[Message]:
        """Return the content as chat messages. Results of functions become messages of role ``tool``."""
        parts: list[Part] = _list(self.parts)
        results = [part.function_response for part in parts if part.function_response is not None]
        role = "assistant" if self.role == "model" else self.role
        messages = [Message(role, self.text)] if len(results) < len(parts) or not parts else []
        return messages + [Message("tool", _result_text(result.response)) for result in results]


class FunctionDeclaration(msgspec.Struct, rename="camel"):
    """A function that the model can call. ``parameters`` is an OpenAPI schema, whose types are in upper case."""

    name: str
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class ToolDeclaration(msgspec.Struct, rename="camel"):
    """A tool. Tools other than functions are ignored."""

    function_declarations: list[FunctionDeclaration] | FunctionDeclaration = []


class FunctionCallingConfig(msgspec.Struct, rename="camel"):
    """The functions that the model may or must call."""

    mode: str = "AUTO"
    allowed_function_names: list[str] = []


class ToolConfig(msgspec.Struct, rename="camel"):
    """The configuration of all tools."""

    function_calling_config: FunctionCallingConfig = msgspec.field(default_factory=FunctionCallingConfig)


class ThinkingConfig(msgspec.Struct, rename="camel"):
    """How much the model thinks, and whether the response has the thoughts."""

    include_thoughts: bool = False
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(msgspec.Struct, rename="camel"):
    """The parameters of a generation."""

    candidate_count: int = 1
    max_output_tokens: int | None = None
    stop_sequences: list[str] | None = None
    response_mime_type: str | None = None
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None
    thinking_config: ThinkingConfig = msgspec.field(default_factory=ThinkingConfig)

    @property
    def thinks(self) -> bool:
        """Whether the model thinks. Without a configuration, it does not."""
        config = self.thinking_config
        return config.thinking_budget != 0 and (
            config.include_thoughts or config.thinking_budget is not None or config.thinking_level is not None
        )

    @property
    def shows_thoughts(self) -> bool:
        """Whether the response has the thoughts."""
        return self.thinking_config.include_thoughts

    def response_format(self) -> ResponseFormat | None:
        """Return the format of the response, or `None` for plain text."""
        if self.response_mime_type != "application/json":
            return None
        schema = self.response_json_schema or _json_schema(self.response_schema)
        return ResponseFormat("json_schema", JsonSchema(schema)) if schema else ResponseFormat("json_object")


class GenerateRequest(msgspec.Struct, rename="camel"):
    """The body of ``generateContent`` and ``streamGenerateContent``."""

    contents: list[Content] | Content = []
    system_instruction: Content | None = None
    tools: list[ToolDeclaration] | ToolDeclaration = []
    tool_config: ToolConfig = msgspec.field(default_factory=ToolConfig)
    generation_config: GenerationConfig = msgspec.field(default_factory=GenerationConfig)

    def messages(self) -> list[Message]:
        """Return the conversation as chat messages. The list is empty if there are no contents."""
        messages = [message for content in _list(self.contents) for message in content.messages()]
        system = self.system_instruction
        return [Message("system", system.text), *messages] if system is not None and messages else messages

    def chat(self) -> ChatRequest:
        """Return the request as a chat request without a model."""
        declared = [each for tool in _list(self.tools) for each in _list(tool.function_declarations)]
        calling, config = self.tool_config.function_calling_config, self.generation_config
        names = calling.allowed_function_names
        choice: Any = _TOOL_CHOICES.get(calling.mode.upper())
        if choice == "required" and len(names) == 1:
            choice = {"function": {"name": names[0]}}
        return ChatRequest(
            messages=self.messages(),
            max_tokens=config.max_output_tokens,
            stop=config.stop_sequences,
            tools=[
                Tool(function=Function(each.name, each.parameters_json_schema or _json_schema(each.parameters)))
                for each in declared
            ],
            tool_choice=choice,
            response_format=config.response_format(),
        )


class CountTokensRequest(msgspec.Struct, rename="camel"):
    """The body of ``countTokens``."""

    contents: list[Content] | Content = []
    generate_content_request: GenerateRequest | None = None


class EmbedRequest(msgspec.Struct, rename="camel"):
    """The body of ``embedContent``."""

    content: Content
    output_dimensionality: int | None = None

    @property
    def text(self) -> str:
        """The text to embed."""
        return self.content.text


class BatchEmbedRequest(msgspec.Struct, rename="camel"):
    """The body of ``batchEmbedContents``."""

    requests: list[EmbedRequest] = []


def read(body: bytes, type_: type[T]) -> T:
    """Return a body as a request. Raises InvalidBody."""
    try:
        return msgspec.convert(_camel_case(msgspec.json.decode(body)), type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidBody(str(error)) from None


def _camel_case(value: Any) -> Any:
    """Return a value of a body with all names of fields in camel case."""
    if isinstance(value, list):
        return [_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = ((_camel_name(name), inner) for name, inner in value.items())
    return {name: inner if name in _OPAQUE else _camel_case(inner) for name, inner in named}


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _json_schema(schema: Any) -> Any:
    """Return an OpenAPI schema as a JSON schema, whose types are in lower case."""
    if isinstance(schema, list):
        return [_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value.lower() if name == "type" and isinstance(value, str) else _json_schema(value)
        for name, value in schema.items()
    }


def _result_text(response: dict[str, Any]) -> str:
    """Return the result of a function as text. SDKs put a result that is not an object into ``result``."""
    value = response["result"] if response.keys() == {"result"} else response
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _list(value: Any) -> list[Any]:
    """Return a list, or the list of a single value."""
    return value if isinstance(value, list) else [value]
