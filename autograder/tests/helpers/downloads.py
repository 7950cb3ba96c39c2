"""Makes downloads in the forms of learning management systems, for tests."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

import yaml

Entry = tuple[str, bytes, datetime]


def zipped(path: Path, entries: list[Entry]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, when in entries:
            info = zipfile.ZipInfo(name, when.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


def moodle(
    path: Path,
    people: list[tuple[str, int, bytes, datetime]],
    flat: bool = False,
    old: bool = False,
    file: str = "value.ipynb",
) -> Path:
    """Make the zip of Moodle's *Download all submissions*.

    Args:
        flat: whether the files have no folders.
        old: whether the names have the form before Moodle 4.1.
    """
    between = "_" if flat else "_/" if old else "/"
    return zipped(
        path,
        [
            (f"{name}_{number}_assignsubmission_file{between}{file}", content, when)
            for name, number, content, when in people
        ],
    )


def canvas(path: Path, people: list[tuple[str, bool, int, int, str, bytes]]) -> Path:
    """Make the zip of Canvas's *Download Submissions*, in which every file has the time of the
    download."""
    now = datetime(2030, 3, 5, 8, 0)
    entries = []
    for name, late, user, attachment, file, content in people:
        middle = "_LATE" if late else ""
        entries.append((f"{name}{middle}_{user}_{attachment}_{file}", content, now))
    return zipped(path, entries)


def gradescope(path: Path, groups: list[tuple[list[dict[str, str]], datetime, bytes]]) -> Path:
    """Make the zip of Gradescope's *Export Submissions*."""
    root, now, entries, listed = "assignment_9_export/", datetime(2030, 3, 5), [], {}
    for number, (people, when, content) in enumerate(groups, 700):
        entries.append((f"{root}submission_{number}/value.ipynb", content, now))
        listed[f"submission_{number}"] = {
            ":submitters": [{f":{key}": value for key, value in each.items()} for each in people],
            ":created_at": when,
            ":score": 0.0,
        }
    text = yaml.safe_dump(listed, allow_unicode=True)
    return zipped(path, [*entries, (f"{root}submission_metadata.yml", text.encode(), now)])
