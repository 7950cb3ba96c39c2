"""The glossary names what exists, and retired words are in no identifier."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")
PACKAGES = ("autograder/src", "autograder/coursecheck/src", "course")
AUTHORS_TEXTS = {"recipes", "template"}


def identifiers() -> dict[str, str]:
    """Return every name that the product's code defines, with the file that does."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if AUTHORS_TEXTS & {*path.parts}:
                continue
            where = str(path.relative_to(ROOT))
            found |= dict.fromkeys([*path.relative_to(ROOT).with_suffix("").parts], where)
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found[node.name] = where
                elif isinstance(node, ast.arg):
                    found[node.arg] = where
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found[node.id] = where
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found[node.attr] = where
        for path in (ROOT / package).rglob("*.js"):
            names = re.findall(r"\b(?:const|let|function|class) (\w+)", path.read_text("utf-8"))
            found |= dict.fromkeys(names, str(path.relative_to(ROOT)))
    return found


def words_of(identifier: str) -> set[str]:
    """Return the words of a snake_case or CamelCase name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)}


def test_each_name_in_the_glossary_exists():
    rows = re.findall(r"^\|[^|]+\|[^|]+\| `([\w.]+)` \|$", GLOSSARY, re.MULTILINE)
    names = {name.rpartition(".")[2] for name in rows}

    assert len(names) > 20
    assert names - {*identifiers()} == set()


def test_no_identifier_has_a_retired_word():
    _, _, retired = GLOSSARY.partition("## Not used")
    words = {*re.findall(r"\*(\w+)\*(?! for)", retired)}
    forms = words | {f"{word}s" for word in words}

    assert len(words) > 10
    assert {name: where for name, where in identifiers().items() if words_of(name) & forms} == {}
