"""``relaybook completion`` prints scripts that real shells understand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.needs import needs

COMMANDS = {"serve", "tail", "show", "completion"}


@pytest.fixture
def script(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the completion script for the shell that the test's parameter names."""
    printed = run(sys.executable, "-m", "relaybook.cli.main", "completion", request.param)
    path = tmp_path / "_relaybook"
    path.write_text(printed)
    return path


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def bash_completions(script: Path, *words: str) -> set[str]:
    """Return the completions that bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in ("relaybook", *words))
    return set(
        run(
            "bash",
            "--norc",
            "-c",
            f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
            "$(complete -p relaybook | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\"",
        ).split()
    )


@needs("bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_commands_and_flags(script: Path) -> None:
    assert bash_completions(script, "") >= COMMANDS
    assert bash_completions(script, "se") == {"serve"}
    assert bash_completions(script, "serve", "--upstream-t") == {"--upstream-timeout"}
    assert bash_completions(script, "tail", "--fo") == {"--follow"}
    assert bash_completions(script, "completion", "z") == {"zsh"}


@needs("fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_commands_and_flags(script: Path) -> None:
    def offered(line: str) -> set[str]:
        lines = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'").splitlines()
        return {each.partition("\t")[0] for each in lines}

    assert offered("relaybook ") >= COMMANDS
    assert offered("relaybook serve --upstream-t") == {"--upstream-timeout"}


@needs("zsh")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_loads_the_script_as_a_function_of_its_completion_system(script: Path) -> None:
    load = f"fpath=({script.parent} $fpath); autoload -Uz compinit; compinit -D; echo $_comps[relaybook]; "
    assert run("zsh", "-f", "-c", load + "autoload +X _relaybook && whence -w _relaybook").split() == [
        "_relaybook",
        "_relaybook:",
        "function",
    ]


def test_an_unknown_shell_is_rejected() -> None:
    command = [sys.executable, "-m", "relaybook.cli.main", "completion", "csh"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ)
    assert done.returncode == 2
    assert "csh" in done.stderr
    assert len(done.stderr.splitlines()) == 1
