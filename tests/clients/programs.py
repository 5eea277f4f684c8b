"""List the client programs: their versions, their configuration files, and their commands without a dialog.

Each program sends tags with its own setting for headers. The second command of a program continues its conversation.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Final

from tests.clients.client import SECOND_PROMPT, SHELL, Client, Run, Setup

_TOOL_OF_LLM: Final = 'def upper(text: str) -> str:\n    "Return a text in upper case"\n    return text.upper()\n'


def _llm(at: Setup) -> Run:
    models = {
        "model_id": "relaybook",
        "model_name": "gpt-4o-mini",
        "api_base": at.base,
        "api_key_name": "openai",
        "supports_tools": True,
        "headers": at.headers,
    }
    return Run(
        [
            ["llm", "-m", "relaybook", "--functions", _TOOL_OF_LLM, at.prompt],
            ["llm", "-c", "--functions", _TOOL_OF_LLM, SECOND_PROMPT],
        ],
        env={"LLM_USER_PATH": str(at.home / "llm"), "OPENAI_API_KEY": at.key},
        files={"llm/extra-openai-models.yaml": json.dumps([models])},
    )


def _aider(at: Setup) -> Run:
    settings = [{"name": "openai/gpt-4o-mini", "extra_params": {"extra_headers": at.headers}}]
    flags = (
        "--no-git --no-pretty --no-fancy-input --no-check-update --no-analytics --no-show-release-notes --yes-always"
    )
    quiet = "--no-show-model-warnings --map-tokens 0 --no-gitignore --no-suggest-shell-commands"
    return Run(
        [["aider", *flags.split(), *quiet.split(), "--model", "openai/gpt-4o-mini"]],
        env={"OPENAI_API_BASE": at.base, "OPENAI_API_KEY": at.key},
        files={".aider.model.settings.yml": json.dumps(settings)},
        stdin=f"{at.prompt}\n{SECOND_PROMPT}\n/exit\n",
    )


def _codex(at: Setup) -> Run:
    return _codex_with("gpt-5.1", at)


def _codex_with(model: str, at: Setup) -> Run:
    headers = ", ".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in at.headers.items())
    config = f"""\
model = "{model}"
model_provider = "relay"
[model_providers.relay]
name = "Relaybook"
base_url = "{at.base}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
http_headers = {{ {headers} }}
"""
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return Run(
        [["codex", "exec", *flags, at.prompt], ["codex", "exec", "resume", "--last", *flags, SECOND_PROMPT]],
        env={"CODEX_HOME": str(at.home / "codex"), "OPENAI_API_KEY": at.key},
        files={"codex/config.toml": config},
    )


def _codex_without_provider(at: Setup) -> Run:
    """Set only the base URL. Codex then tries a WebSocket first, and sends no headers of the user."""
    run = _codex(at)
    base = f"{at.base.removesuffix('/v1')}/ns/codex-base-url/v1"
    config = f'model = "gpt-5.1"\nopenai_base_url = "{base}"\n'
    return replace(run, files={"codex/config.toml": config, "codex/auth.json": json.dumps({"OPENAI_API_KEY": at.key})})


def _claude(at: Setup) -> Run:
    flags = ["--model", "claude-sonnet-4-5", "--allowedTools", "Bash", "Agent"]
    return Run(
        [["claude", "-p", at.prompt, *flags], ["claude", "--continue", "-p", SECOND_PROMPT, *flags]],
        env={
            "ANTHROPIC_BASE_URL": at.anthropic,
            "ANTHROPIC_API_KEY": at.key,
            "ANTHROPIC_CUSTOM_HEADERS": "\n".join(f"{name}: {value}" for name, value in at.headers.items()),
            "DISABLE_AUTOUPDATER": "1",
        },
    )


def _opencode(package: str, model: str, at: Setup) -> Run:
    """Use one of the packages for providers that opencode contains."""
    bases = {"anthropic": f"{at.anthropic}/v1", "google": f"{at.gemini}/v1beta"}
    provider = {
        "npm": f"@ai-sdk/{package}",
        "name": "Relaybook",
        "options": {"baseURL": bases.get(package, at.base), "apiKey": at.key, "headers": at.headers},
        "models": {model: {"name": "Model", "tool_call": True}},
    }
    config = {
        "provider": {"relay": provider},
        "model": f"relay/{model}",
        "small_model": f"relay/{model}",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "allow"},
    }
    return Run(
        # opencode puts quotes around arguments with spaces, and joins all arguments with spaces.
        [["opencode", "run", *at.prompt.split()], ["opencode", "run", "--continue", *SECOND_PROMPT.split()]],
        env={"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        files={".config/opencode/opencode.json": json.dumps(config)},
    )


def _continue(at: Setup) -> Run:
    model = {
        "name": "relay",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "apiBase": at.base,
        "apiKey": at.key,
        "roles": ["chat"],
        "capabilities": ["tool_use"],
        "requestOptions": {"headers": at.headers},
    }
    config = {"name": "relay", "version": "0.0.1", "schema": "v1", "models": [model]}
    flags = ["--config", str(at.home / "config.yaml"), "--allow", "Bash"]
    return Run(
        [["cn", *flags, "-p", at.prompt], ["cn", *flags, "--resume", "-p", SECOND_PROMPT]],
        env={"CONTINUE_TELEMETRY_ENABLED": "0"},
        files={"config.yaml": json.dumps(config)},
    )


def _cline(at: Setup) -> Run:
    settings = {
        "provider": "openai-compatible",
        "apiKey": at.key,
        "model": "gpt-4o-mini",
        "baseUrl": at.base,
        "headers": at.headers,
    }
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "providers": {"openai-compatible": provider}, "lastUsedProvider": "openai-compatible"}
    return Run(
        [["cline", "--auto-approve", "true", "--json", at.prompt]],
        files={".cline/data/settings/providers.json": json.dumps(providers)},
    )


def _gemini(at: Setup) -> Run:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    flags = ["--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-flash"]
    return Run(
        [["gemini", *flags, "-p", at.prompt], ["gemini", *flags, "--resume", "latest", "-p", SECOND_PROMPT]],
        env={
            "GOOGLE_GEMINI_BASE_URL": at.gemini,
            "GEMINI_API_KEY": at.key,
            "GEMINI_CLI_CUSTOM_HEADERS": ", ".join(f"{name}: {value}" for name, value in at.headers.items()),
        },
        files={".gemini/settings.json": json.dumps(settings)},
    )


_BASH: Final = ("bash", {"command": SHELL, "description": "Print a word"})
_SUBAGENT: Final = {
    "description": "Print a word",
    "prompt": f"Call the tool Bash with {json.dumps({'command': SHELL})} Then report the result.",
    "subagent_type": "general-purpose",
}

CLIENTS: Final = (
    Client("llm", "pypi", "llm", "0.36", "chat", _llm, ("upper", {"text": "relaybook"})),
    Client("aider", "pypi", "aider-chat", "0.86.2", "chat", _aider, turns=2),
    Client(
        *("codex", "npm", "@openai/codex", "0.171.0", "response", _codex),
        tool=("exec_command", {"cmd": SHELL}),
        sends_session=True,
    ),
    # With this model, Codex offers one custom tool, which runs JavaScript, in an item of the type additional_tools.
    Client(
        *("codex-custom", "npm", "@openai/codex", "0.171.0", "response", partial(_codex_with, "gpt-6.2-sol")),
        tool=("exec", {"input": f"const done = await tools.exec_command({{cmd: '{SHELL}'}}); text(done.output)"}),
        sends_session=True,
    ),
    Client(
        *("codex-base-url", "npm", "@openai/codex", "0.171.0", "response", _codex_without_provider),
        tool=("exec_command", {"cmd": SHELL}),
        sends_session=True,
        sends_headers=False,
        refused=frozenset({"upgrade_required"}),
    ),
    Client(
        *("claude", "npm", "@anthropic-ai/claude-code", "2.1.197", "message", _claude),
        tool=("Bash", {"command": SHELL, "description": "Print a word"}),
        sends_session=True,
        sends_user=True,
    ),
    Client(
        *("claude-subagent", "npm", "@anthropic-ai/claude-code", "2.1.197", "message", _claude),
        tool=("Agent", _SUBAGENT),
        tools_of_subagent=("Bash",),
        sends_session=True,
        sends_user=True,
    ),
    Client(
        *("opencode", "npm", "opencode-ai", "1.18.33", "chat", partial(_opencode, "openai-compatible", "gpt-4o-mini")),
        tool=_BASH,
        sends_session=True,
    ),
    Client(
        *("opencode-openai", "npm", "opencode-ai", "1.18.33", "response", partial(_opencode, "openai", "gpt-4o-mini")),
        tool=_BASH,
        sends_session=True,
    ),
    Client(
        *(
            "opencode-anthropic",
            "npm",
            "opencode-ai",
            "1.18.33",
            "message",
            partial(_opencode, "anthropic", "claude-sonnet-4-5"),
        ),
        tool=_BASH,
        sends_session=True,
    ),
    Client(
        *(
            "opencode-google",
            "npm",
            "opencode-ai",
            "1.18.33",
            "generate",
            partial(_opencode, "google", "gemini-2.5-flash"),
        ),
        tool=_BASH,
        sends_session=True,
    ),
    Client("continue", "npm", "@continuedev/cli", "1.5.47", "chat", _continue, ("Bash", {"command": SHELL})),
    Client(*("cline", "npm", "cline", "3.0.65", "chat", _cline), tool=("run_commands", {"commands": [SHELL]}), turns=2),
    Client(
        *("gemini", "npm", "@google/gemini-cli", "0.61.0", "generate", _gemini),
        tool=("run_shell_command", {"command": SHELL}),
        sends_user=True,
    ),
)
