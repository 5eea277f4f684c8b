"""List coding agents and apps that send requests, and how each is connected to the relay."""

from typing import Final

from relaybook.settings.client_setup import Client, Snippet

_ESTIMATES: Final = "asks for no usage, so the tokens of its streams are estimates, marked with `≈`."

PROGRAMS: Final = (
    Client(
        *("claude-code", "Claude Code", "Coding agents", "anthropic"),
        setup=(
            Snippet(
                *("In a shell", "sh"),
                """\
export ANTHROPIC_BASE_URL={{url}}
export ANTHROPIC_API_KEY={{any_key}}
export ANTHROPIC_CUSTOM_HEADERS='{{prefix}}-Namespace: claude-code
{{prefix}}-Property-Team: web'
claude
""",
            ),
            Snippet(
                *("Or permanently, in ~/.claude/settings.json", "json"),
                """\
{
  "env": {
    "ANTHROPIC_BASE_URL": "{{url}}",
    "ANTHROPIC_CUSTOM_HEADERS": "{{prefix}}-Namespace: claude-code\\n{{prefix}}-Property-Team: web"
  }
}
""",
            ),
        ),
        tags="`ANTHROPIC_CUSTOM_HEADERS`, with one `Name: value` per line.",
        notes=(
            "Claude Code needs its own login, or an API key in `ANTHROPIC_API_KEY`.",
            "The base URL has no `/v1`, because Claude Code appends `/v1/messages`. With `/v1`, it prints nothing. "
            "Without `/anthropic`, its requests and its key go to the upstream of the default route.",
            "Each session is a thread. Subagents, titles and counts of tokens are requests of their own, and titles "
            "are conversations of their own.",
            "At its start, Claude Code also sends a `HEAD` request to the base URL, without tags. If the upstream "
            "answers with 404 or 405, the request has not failed, because any answer shows that the upstream can be "
            "reached. With the namespace in the base URL, as in "
            "`{{namespace_url}}`, this request has the namespace, too.",
            "If the upstream rejects the key, Claude Code repeats the request for a while without a message. The log "
            "shows the status 401.",
        ),
        tested="2.1.197",
    ),
    Client(
        *("codex", "Codex", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In ~/.codex/config.toml", "toml"),
                """\
model_provider = "relaybook"

[model_providers.relaybook]
name = "Relaybook"
base_url = "{{url}}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
http_headers = { "{{prefix}}-Namespace" = "codex" }
env_http_headers = { "{{prefix}}-Property-Ticket" = "TICKET" }
""",
            ),
            Snippet(*("In a shell", "sh"), "export OPENAI_API_KEY={{key}}\ncodex\n"),
        ),
        tags="`http_headers` has fixed values. `env_http_headers` names environment variables that have the values.",
        notes=(
            "Codex ignores `OPENAI_BASE_URL`.",
            "With the setting `openai_base_url` instead of the table, Codex tries WebSocket first, and uses HTTP after "
            "the relay's response 426.",
        ),
        tested="0.171.0",
    ),
    Client(
        *("gemini-cli", "Gemini CLI", "Coding agents", "gemini"),
        setup=(
            Snippet(
                *("In a shell", "sh"),
                """\
export GOOGLE_GEMINI_BASE_URL={{url}}
export GEMINI_API_KEY={{key}}
export GEMINI_CLI_CUSTOM_HEADERS='{{prefix}}-Namespace: gemini-cli, {{prefix}}-Property-Team: web'
gemini
""",
            ),
            Snippet(
                *("In ~/.gemini/settings.json", "json"),
                """\
{
  "security": { "auth": { "selectedType": "gemini-api-key" } }
}
""",
            ),
        ),
        tags="`GEMINI_CLI_CUSTOM_HEADERS`, with commas between the headers.",
        notes=(
            "Without `selectedType` in the settings, the Gemini CLI prints `Invalid auth method selected.` and sends "
            "nothing.",
        ),
        tested="0.61.0",
    ),
    Client(
        *("opencode", "opencode", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In opencode.json, or in ~/.config/opencode/opencode.json", "json"),
                """\
{
  "provider": {
    "relaybook": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Relaybook",
      "options": {
        "baseURL": "{{url}}",
        "apiKey": "{{key}}",
        "headers": { "{{prefix}}-Namespace": "opencode" }
      },
      "models": { "gpt-4o-mini": { "name": "gpt-4o-mini", "tool_call": true } }
    }
  },
  "model": "relaybook/gpt-4o-mini",
  "small_model": "relaybook/gpt-4o-mini"
}
""",
            ),
        ),
        tags="`headers` in the `options` of a provider.",
        notes=(
            "For the providers of opencode itself, set only `baseURL` and `headers` in their `options`: `openai` needs "
            "`{{url}}`, `anthropic` needs `{{root}}/anthropic/v1`, and `google` needs `{{root}}/gemini/v1beta`.",
            "opencode sends a title request for each session, which is a conversation of its own.",
        ),
        tested="1.18.33",
    ),
    Client(
        *("cline", "Cline", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In the settings of the editor extension", "text"),
                """\
API Provider: OpenAI Compatible
Base URL: {{url}}
API Key: {{key}}
Model ID: gpt-4o-mini
Custom Headers: {{prefix}}-Namespace = cline
""",
            ),
            Snippet(
                *("For the command cline, in a shell", "sh"),
                "cline auth -p openai -b {{url}} -k {{key}} -m gpt-4o-mini\n",
            ),
        ),
        tags="In the extension, custom headers. For the command, add `headers` to the provider's `settings` in "
        "`~/.cline/data/settings/providers.json`, or put the namespace into the base URL: `{{namespace_url}}`.",
        notes=("Only the command was tested, not the extension.",),
        tested="the command 3.0.65",
    ),
    Client(
        *("continue", "Continue", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In ~/.continue/config.yaml", "yaml"),
                """\
name: Relaybook
version: 1.0.0
schema: v1
models:
  - name: gpt-4o-mini
    provider: openai
    model: gpt-4o-mini
    apiBase: {{url}}
    apiKey: {{key}}
    roles: [chat]
    capabilities: [tool_use]
    requestOptions:
      headers:
        {{prefix}}-Namespace: continue
""",
            ),
        ),
        tags="`requestOptions.headers` of a model.",
        notes=("The command `cn` and the editor extension read the same file. Only the command was tested.",),
        tested="the command 1.5.47",
    ),
    Client(
        *("aider", "aider", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In a shell", "sh"),
                """\
export OPENAI_API_BASE={{url}}
export OPENAI_API_KEY={{key}}
aider --model openai/gpt-4o-mini
""",
            ),
            Snippet(
                *("In .aider.model.settings.yml, in the home directory or in the repository", "yaml"),
                """\
- name: openai/gpt-4o-mini
  extra_params:
    extra_headers:
      {{prefix}}-Namespace: aider
""",
            ),
        ),
        tags="`extra_headers` of a model in the file.",
        notes=(
            f"aider {_ESTIMATES}",
            "For models of Anthropic, set `ANTHROPIC_API_BASE` to `{{root}}/anthropic`.",
        ),
        tested="0.86.2",
    ),
    Client(
        *("cursor", "Cursor", "Coding agents", "openai"),
        setup=(
            Snippet(
                *("In Settings → Models → API Keys", "text"),
                "OpenAI API Key: {{key}}\nOverride OpenAI Base URL: {{namespace_url}}\n",
            ),
        ),
        tags="Cursor sends no headers of yours, so the namespace is in the base URL.",
        notes=(
            "Cursor sends the requests from its own servers. They cannot reach an address of this machine or of your "
            "network, so the relay needs a public HTTPS address, behind a proxy that lets only your requests pass.",
        ),
    ),
    Client(
        *("open-webui", "Open WebUI", "Apps", "openai"),
        setup=(
            Snippet(
                *("In the environment of the server", "sh"),
                """\
export OPENAI_API_BASE_URL={{url}}
export OPENAI_API_KEY={{key}}
export ENABLE_FORWARD_USER_INFO_HEADERS=true
export FORWARD_USER_INFO_HEADER_USER_ID={{prefix}}-Property-User-Id
export FORWARD_SESSION_INFO_HEADER_CHAT_ID={{prefix}}-Property-Chat-Id
""",
            ),
        ),
        tags="Open WebUI can name the headers with the ids of user and chat, so both become properties. For a "
        "namespace, use the base URL `{{namespace_url}}`.",
        notes=("In a container, `127.0.0.1` is the container itself. Use an address of the relay's machine.",),
    ),
)
