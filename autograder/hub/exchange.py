"""Collects what students handed in, on a hub where each has a folder of their own to do so.

nbgrader's exchange tells students apart by their accounts on the machine. Here, where they have
none, the folder does it: what lies in it was handed in by its student, whatever name it bears.
"""

from __future__ import annotations

import os
import tempfile
from logging import Logger
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from traitlets import Unicode

from ..intake import UnreadableNotebook, read_plain_file, refuse_links

MOST_FILES = 20
"""Of a submission; the rest is left behind."""

_NEEDED = "submission_secret.txt"
_SUFFIXES = (".ipynb", ".py", ".txt")


class CollectFromEach(ExchangeCollect):
    """What `nbgrader collect` and the formgrader's button use."""

    folder = Unicode(help="The folder that holds one for each student.").tag(config=True)

    def init_src(self) -> None:
        inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        for student in sorted(Path(self.folder).iterdir()):
            take_in(student, inbound, self.log)
        super().init_src()


def take_in(student: Path, inbound: Path, log: Logger) -> None:
    """Copy a student's new submissions: plain files alone, each submission whole or not at all.

    Args:
        student: the student's folder, named like the student.
        inbound: nbgrader's folder for submissions.
        log: is told of what was left behind.
    """
    for submission in sorted(student.iterdir()):
        target = inbound / submission.name
        if not submission.name.startswith(f"{student.name}+"):
            log.warning("%s does not bear its student's name and was left behind", submission)
        elif not target.exists() and (submission / _NEEDED).exists():
            # That file is written last: without it, the submission is still on its way.
            try:
                _copy(submission, target)
            except UnreadableNotebook as error:
                log.warning("%s was left behind: %s", submission, error)


def _copy(submission: Path, target: Path) -> None:
    refuse_links(submission)
    names = [name for name in sorted(os.listdir(submission)) if name.endswith(_SUFFIXES)]
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as scratch:
        made = Path(scratch) / "submission"
        made.mkdir()
        for name in names[:MOST_FILES]:
            (made / name).write_bytes(read_plain_file(submission / name))
        made.rename(target)
