"""The settings of course.toml: right and wrong values of each key, and functions that read them."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from autograder.course_folder.settings import IN_NOTEBOOK, NAME, Settings, load_settings
from autograder.records import Limits

HEAD = 'id = "statistics-1"\ntitle = "Statistics"\n'

# A right value and wrong ones of each key, by its table, as they are written in TOML.
TEXTS = ("3", '"one"', '["one", 2]')
PLACE = ("3", '"drawing"', '"drawing:"', '"a b:c"', '["drawing:draw"]')
NUMBER = ('"3"', "0", "-1", "true", "nan", "inf", "[3]")
WHOLE = (*NUMBER, "2.5")
FILES = (*TEXTS, '["/etc/passwd"]', '["../secret.csv"]', '["a/../../b"]', '[""]')
DATA = (*TEXTS, '["/tmp/a"]', '["../../gradebook.db"]', '["a/../../../../b"]', '[""]')
LIMITS = {int: ("7", WHOLE), float: ("7", NUMBER), tuple: ('["fit"]', TEXTS)}
KEYS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "": {
        "id": ('"other"', ("3", '""', '"a/b"', '"../up"', '".hidden"', '["a"]')),
        "title": ('"A title"', ("3", '"  "', "true")),
        "headings": ('["Task"]', TEXTS),
    },
    "sandbox": {"kind": ('"landlock"', ("3", '""', '"none"', '["auto"]'))},
    "student_code": {
        "packages": ('["ipython"]', TEXTS),
        "modules": ("[]", TEXTS),
        "preload": ('["numpy"]', TEXTS),
    },
    "limits": {
        "submission_seconds": ("60", NUMBER),
        **{each.name: LIMITS[type(each.default)] for each in fields(Limits)},
    },
    "checks": {
        "tables": ('"tables"', ("3", '""', '["tables"]')),
        "answers": ('"at-once"', ('"never"', "true", "[]")),
    },
    "grading": {
        "drawing": ('"drawing:draw"', PLACE),
        "core_only": ("true", ("1", '"yes"', "[]")),
        "counts": ('"in-time"', ('"first"', "3")),
    },
    "audit": {
        "attributes": ('[["data", "grad"]]', ("3", '["data"]', '[["data"]]', '[["data", 3]]')),
        "edges": ('"misconceptions.edges:edges"', PLACE),
        "misconceptions": ("3", ("-1", '"3"', "true", "2.5")),
    },
    "lesson": {"folder": ('"course"', ("3", '""')), "names": ('"lesson:names"', PLACE)},
    "service": {
        "attempts": ("0", ("-1", '"3"', "true", "2.5")),
        "attempts_a_day": ("3", ("-1", '"3"', "true", "2.5")),
        "before_due": ('"nothing"', ('"all"', "3", "[]")),
        "counts": ('"best"', ('"first"', "3")),
        "address": ('"https://grades.example.org/"', ("3", '""', '"grades.example.org"')),
    },
    "marking": {
        "asks": ("0", ("-1", '"3"', "true", "2.5")),
        "ask_days": ("14", ("0", "-1", '"3"', "true", "2.5")),
    },
    "bundle": {
        "wheel": ('["pyproject.toml", "package"]', FILES),
        "extra": ('["extra/more.ipynb"]', FILES),
        "browser": ('"https://courses.example.org/"', ("3", '""', '"courses.example.org"')),
    },
    "assignments.first": {
        "tests": (f'"{IN_NOTEBOOK}"', ('"both"', "3", "[]")),
        "data": ('["points.csv"]', DATA),
    },
}  # fmt: skip


def load(folder: Path, text: str) -> Settings:
    (folder / NAME).write_text(text, "utf-8")
    return load_settings(folder)


def value_of(found: Settings, table: str, key: str) -> Any:
    """Return the value of a setting, given its table and key in course.toml."""
    parts = {
        "student_code": found.visible, "limits": found.limits, "audit": found.audit,
        "lesson": found.lesson, "service": found.service, "marking": found.marking,
        "assignments.first": found.of("first"),
    }  # fmt: skip
    if (table, key) == ("sandbox", "kind"):
        return found.sandbox
    return getattr(found if key == "submission_seconds" else parts.get(table, found), key)


def written(value: str) -> Any:
    """Return a value that is written in TOML, with tuples for lists."""

    def frozen(item: Any) -> Any:
        return tuple(map(frozen, item)) if isinstance(item, list) else item

    return frozen(tomllib.loads(f"x = {value}")["x"])
