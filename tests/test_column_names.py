"""Columns of the tables that pass between stages are named in `recap.columns` and nowhere else.

A bare string with a column's name is looked for where a table is spoken of:

- as the key of a subscript, alone or in a list: ``records["rank"]``, ``table[["case", "rank"]]``;
- in what a table method is given: ``groupby("user")``, ``sort_values(["rank"])``, ``pd.DataFrame({"rank": ...})``;
- as a keyword of ``assign``: ``table.assign(rank=...)``;
- in any list or tuple that names two or more columns: ``["case", "rank"]``;
- and, for names that mean nothing but a column, anywhere: ``by == "transition_count"``.

Score parts are columns whose name `recap.columns.part_column` makes, so no string starts with ``part_``.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import recap
from recap import columns

CHECKOUT = Path(recap.__file__).parent.parent
NAMES = {value for name, value in vars(columns).items() if name.isupper() and isinstance(value, str)} - {"part_"}

# Other things than a column are called so too: a user, a place's category, the time of an edit.
AMBIGUOUS = {
    *("case", "row", "position", "source", "target", "rank", "score", "user", "poi", "trajectory", "split", "time"),
    *("category", "latitude", "longitude"),
}
TABLE_METHODS = {
    *("DataFrame", "groupby", "sort_values", "drop", "drop_duplicates", "duplicated", "rename", "set_index"),
    *(
        "merge",
        "join",
        "pivot",
        "pivot_table",
        "melt",
        "reindex",
        "astype",
        "agg",
        "read_table",
        "read_parquet",
        "read_validated",
    ),
}
# What is no table, by the text before the bracket.
OTHER_MAPPINGS = {
    "Literal",  # a type
    "st.session_state",  # what the page remembers
    "position",  # of the drawn nodes `source`, `middle` and `target` of a two-hop path
}
EXCEPTIONS = {
    "analysis/glossary.py": "keys of terms, some of which are names of columns too",
    "recap/columns.py": "names them",
    "recap/data/parsing": "fields of a user's file, before they are columns",
    "recap/data/readers": "the same, as each format calls them",
    "analysis/records/causes.py": "the table of sources of evidence, whose `source` is no place",
    "analysis/training_progress.py": "the table of runs, whose `time` is how long one took",
}


def strings(node: ast.expr) -> Iterator[ast.Constant]:
    """String constants of a key or argument, also in lists, dictionaries' keys and sums of lists."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from strings(part)
        case ast.Dict(keys=keys):
            for key in keys:
                if key is not None:
                    yield from strings(key)
        case ast.BinOp(left=left, right=right):
            yield from strings(left)
            yield from strings(right)
        case ast.Starred(value=value):
            yield from strings(value)


def bare_columns(code: str) -> list[str]:
    """``line: name`` of every column that the code names by a string."""
    tree = ast.parse(code)
    types = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"
        for part in ast.walk(node)
    }
    found: set[tuple[int, str]] = set()

    def look(*nodes: ast.expr) -> None:
        found.update(
            (constant.lineno, str(constant.value))
            for node in nodes
            for constant in strings(node)
            if constant.value in NAMES and id(constant) not in types
        )

    for node in ast.walk(tree):
        match node:
            case ast.Subscript() if ast.unparse(node.value) not in OTHER_MAPPINGS:
                look(node.slice)
            case ast.Call(func=ast.Attribute(attr=name)) if name in TABLE_METHODS:
                look(*node.args, *(keyword.value for keyword in node.keywords))
            case ast.Call(func=ast.Attribute(attr="assign")):
                found.update((node.lineno, word.arg) for word in node.keywords if word.arg in NAMES)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                named = [part for part in parts if isinstance(part, ast.Constant) and part.value in NAMES]
                if len(named) > 1:
                    look(*named)
            case ast.Constant(value=str(text)) if text in NAMES - AMBIGUOUS:
                look(node)
            case ast.Constant(value=str(text)) if text.startswith("part_"):
                found.add((node.lineno, text))
    return [f"{line}: {name}" for line, name in sorted(found)]


def modules() -> list[str]:
    """Every module of the three packages, by its path in the repository."""
    paths = (path for package in ("recap", "analysis", "app") for path in (CHECKOUT / package).rglob("*.py"))
    names = sorted(path.relative_to(CHECKOUT).as_posix() for path in paths)
    return [name for name in names if not name.startswith(tuple(EXCEPTIONS))]


@pytest.mark.parametrize("package", ["recap", "analysis", "app"])
def test_columns_are_named_in_one_module(package: str) -> None:
    """Whoever needs a column writes ``c.RANK``: a typo is an AttributeError and a rename is one line."""
    found = {
        name: bare
        for name in modules()
        if name.startswith(f"{package}/") and (bare := bare_columns((CHECKOUT / name).read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("records['rank']", ["1: rank"]),
        ("table[['stop', 'case']]", ["1: case"]),
        ("table.groupby('trajectory', sort=True)", ["1: trajectory"]),
        ("pd.DataFrame({'poi': poi, 'n': n})", ["1: poi"]),
        ("table.assign(rank=1, other=2)", ["1: rank"]),
        ("keys = ('user', 'target')", ["1: target", "1: user"]),
        ("by == 'transition_count'", ["1: transition_count"]),
        ("f'part_{name}'", ["1: part_"]),
        ("st.session_state['case'], Literal['source', 'user'], say('user'), {'case': 3}, records[c.RANK]", []),
    ],
)
def test_what_counts_as_naming_a_column(code: str, expected: list[str]) -> None:
    """One example of each kind, and of what is something else."""
    assert bare_columns(code) == expected


def test_exceptions_are_needed() -> None:
    """An exception that excuses nothing is out of date."""
    for name in EXCEPTIONS:
        path = CHECKOUT / name
        files = [path] if path.is_file() else list(path.glob("*.py"))
        assert any(bare_columns(file.read_text(encoding="utf-8")) for file in files), name
