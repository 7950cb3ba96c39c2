"""course.toml of this course is valid, and docs/settings.md lists every setting there is."""

from __future__ import annotations

import re

from settings_keys import HEAD, KEYS, load, value_of, written
from tested_course import COURSE

from autograder.course_folder.modules import course_object


def documented() -> dict[str, tuple[str, str]]:
    """Return the guide's entry on each key: its type and its default."""
    text = (COURSE.root / "docs" / "settings.md").read_text("utf-8")
    text = text.partition("\n## course.toml\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \|", text, re.MULTILINE)
    return {key: (kind, default) for key, kind, default in rows}


def test_the_guide_lists_every_key_and_no_other():
    keys = {f"{table}.{key}".lstrip(".") for table, known in KEYS.items() for key in known}
    assert {key.replace(".NAME.", ".first.") for key in documented()} == keys


def test_the_guide_lists_the_right_defaults(tmp_path):
    found = load(tmp_path, HEAD)
    for name, (_, default) in documented().items():
        table, _, key = name.replace(".NAME.", ".first.").rpartition(".")
        if name in ("id", "title"):
            assert default == "required"
        else:
            said = "" if default == "none" else written(default.strip("`"))
            assert said == value_of(found, table, key), name


def test_this_course_s_settings_are_valid():
    settings = COURSE.settings

    assert settings.id == "autograd"
    assert course_object(COURSE, settings.lesson.names)
    module = settings.drawing.partition(":")[0]
    assert (COURSE.grading_tests / "remote" / f"{module}.py").exists()
