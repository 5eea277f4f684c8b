"""Files that can be read at a sitting: a limit is a question in review, and its answer stands in the list here."""

import ast

from tests.support.tree import SOURCE, source_files

MAX_FILE_LINES = 300
MEDIAN_FILE_LINES = 150
MAX_FUNCTION_LINES = 60
#: Files over the limit, with the reason why they are better whole.
LONG_FILES: dict[str, str] = {}
#: ``file:function`` over the limit, with the reason.
LONG_FUNCTIONS: dict[str, str] = {}
#: Names that say nothing about what is inside.
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "core", "lib"}


def sizes() -> dict[str, int]:
    return {path.relative_to(SOURCE).as_posix(): len(path.read_text("utf-8").splitlines()) for path in source_files()}


def test_no_file_is_longer_than_a_sitting() -> None:
    assert {name: size for name, size in sizes().items() if size > MAX_FILE_LINES and name not in LONG_FILES} == {}


def test_the_middle_file_is_short() -> None:
    assert sorted(sizes().values())[len(sizes()) // 2] <= MEDIAN_FILE_LINES


def test_no_function_is_longer_than_a_screen() -> None:
    long = {}
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                size = node.end_lineno - node.lineno + 1
                name = f"{path.relative_to(SOURCE).as_posix()}:{node.name}"
                if size > MAX_FUNCTION_LINES and name not in LONG_FUNCTIONS:
                    long[name] = size
    assert long == {}


def test_every_module_says_its_one_job_in_its_first_line() -> None:
    for path in source_files():
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        assert docstring.split("\n")[0].endswith((".", ":")), path.relative_to(SOURCE)


def test_names_of_modules_say_what_is_inside() -> None:
    assert [path for path in source_files() if path.stem in EMPTY_NAMES or path.stem.startswith("base_")] == []
