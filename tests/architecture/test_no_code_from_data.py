"""Test that external data is never executed. The source uses no pickle, eval, templates or shell."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.each import check_each
from tests.support.tree import ROOT, source_files

BUILTINS: Final = {"eval", "exec", "compile", "__import__", "execfile"}
#: Modules that create objects or code from bytes, or pages from templates that may contain code.
MODULES: Final = {
    *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
    *("yaml", "ruamel", "jinja2", "mako", "code", "codeop", "runpy", "pty"),
}
#: The names are qualified, so that harmless functions such as ``re.compile`` are allowed.
FUNCTIONS: Final = {
    *("ast.literal_eval", "literal_eval", "importlib.import_module", "asyncio.create_subprocess_shell"),
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *(f"{module}.{name}" for module in ("builtins", "__builtins__") for name in BUILTINS),
}


class Finder(ast.NodeVisitor):
    """Collects references to modules and functions that execute data.

    A reference is enough, because the function could be called under another name.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        #: The qualified names of imported names. For example, ``import os as o`` maps ``o`` to ``os``.
        self._meanings: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._check_module(node, each.name)
            if each.asname:
                self._meanings[each.asname] = each.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._check_module(node, node.module or "")
        for each in node.names:
            qualified = f"{node.module}.{each.name}"
            self._check_module(node, qualified)
            self._meanings[each.asname or each.name] = qualified
            self._check_function(node, qualified)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in BUILTINS and node.id not in self._meanings:
            self._note(node, node.id)
        self._check_function(node, self._meanings.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._check_function(node, self._qualified_name(node))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            if keyword.arg == "shell" and not is_off:
                self._note(node, "shell=True")
        self.generic_visit(node)

    def _check_module(self, node: ast.AST, name: str) -> None:
        if name.split(".")[0] in MODULES:
            self._note(node, name)

    def _check_function(self, node: ast.AST, name: str) -> None:
        if name in FUNCTIONS:
            self._note(node, name)

    def _qualified_name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return f"{self._qualified_name(node.value)}.{node.attr}"
        return self._meanings.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def _note(self, node: ast.AST, what: str) -> None:
        self.found.append(f"{getattr(node, 'lineno', 0)}: {what}")


def running_data(source: str) -> list[str]:
    """Return ``line: name`` for each reference in a source to code that executes data."""
    finder = Finder()
    finder.visit(ast.parse(source))
    return finder.found


def all_executed_files() -> Iterator[Path]:
    """Yield the installed source files and the script that builds the package."""
    yield from source_files()
    yield ROOT / "hatch_build.py"


def test_the_source_executes_no_data() -> None:
    files = list(all_executed_files())
    assert files
    found = {str(path.relative_to(ROOT)): running_data(path.read_text("utf-8")) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_code_that_executes_data_is_detected() -> None:
    cases = [
        *((f"import {module}", module) for module in sorted(MODULES)),
        *((f"from {module} import x", module) for module in sorted(MODULES)),
        *((f"import {module}.part as harmless", f"{module}.part") for module in sorted(MODULES)),
        *((f"{name}('1')", name) for name in sorted(BUILTINS)),
        *((f"run = {name}", name) for name in sorted(BUILTINS)),
        ("import builtins\nbuiltins.eval('1')", "builtins.eval"),
        ("from builtins import exec as run\nrun('1')", "builtins.exec"),
        ("import ast\nast.literal_eval('1')", "ast.literal_eval"),
        ("from ast import literal_eval", "ast.literal_eval"),
        ("import ast as tree\ntree.literal_eval('1')", "ast.literal_eval"),
        ("import importlib\nimportlib.import_module(name)", "importlib.import_module"),
        ("import os\nos.system('ls')", "os.system"),
        ("import os as o\no.popen('ls')", "os.popen"),
        ("from os import system as run\nrun('ls')", "os.system"),
        ("import subprocess\nsubprocess.run('ls', shell=True)", "shell=True"),
        ("from subprocess import Popen\nPopen('ls', shell=wanted)", "shell=True"),
        ("import subprocess\nsubprocess.getoutput('ls')", "subprocess.getoutput"),
        ("import asyncio\nasyncio.create_subprocess_shell('ls')", "asyncio.create_subprocess_shell"),
        ("def inner():\n    import pickle", "pickle"),
        ("class A:\n    x = property(lambda self: eval('1'))", "eval"),
    ]

    def check(case: tuple[str, str]) -> None:
        source, what = case
        assert what in [line.partition(": ")[2] for line in running_data(source)]

    check_each(cases, check)


def test_code_that_executes_no_data_is_accepted() -> None:
    cases = [
        "import re\nre.compile('x')",
        "import platform\nplatform.system()",
        "import subprocess\nsubprocess.run(['ls'], shell=False)",
        "import os\nos.execv('/bin/true', [])",
        "text = 'import pickle; eval(1)'",
        "'''eval, exec and yaml are not used.'''",
    ]
    assert {source: found for source in cases if (found := running_data(source))} == {}
