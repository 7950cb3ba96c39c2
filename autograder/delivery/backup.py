"""Copies a course's data into one file while the course is in use, and restores it."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import tarfile
import zlib
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import make_url

from ..course_folder.key import NAME as KEY
from ..course_folder.settings import load_settings
from ..errors import CourseError
from ..files import one_at_a_time
from ..pipeline.classroom import course_directory
from ..pipeline.register import ASIDE as WITHDRAWN
from .lms.importing import FOLDER as IMPORTED
from .service.attempts import FOLDER as ATTEMPTS

_ABOUT, _GRADEBOOK, _QUEUE = "backup.json", "gradebook.db", f"{ATTEMPTS}/attempts.db"
_FRESH = ".restored.new"


def back_up(course: Path, target: Path) -> list[str]:
    """Write a backup, whole or not at all; programs that store marks wait meanwhile.

    Returns:
        The names in it.

    Raises `CourseError` if the file is there already, or the gradebook is on a database server.
    """
    if target.exists():
        raise CourseError(f"{target} is there already: choose another name")
    aside = target.with_name(f".{target.name}.new")
    with one_at_a_time(course), TemporaryDirectory(prefix="autograder-backup-") as scratch:
        places = {name: path for name, path in _places(course).items() if path.exists()}
        # The queue is copied first: each attempt that is graded there has its marks in the copied
        # gradebook, since marks are stored before the queue calls an attempt graded.
        copies = {name: Path(scratch) / Path(name).name for name in (_QUEUE, _GRADEBOOK)}
        for name, copy in copies.items():
            if (path := _databases(course)[name]).exists():
                _copy_database(path, copy)
        about = Path(scratch) / _ABOUT
        made = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        course_id = load_settings(course).id
        about.write_text(json.dumps({"schema": 1, "course": course_id, "made": made}))
        wanted = _Wanted(copies[_QUEUE])
        try:
            aside.touch(mode=0o600)
            with tarfile.open(aside, "w:gz", compresslevel=1) as archive:
                archive.add(about, _ABOUT)
                for name, path in places.items():
                    archive.add(copies.get(name, path), name, filter=wanted)
                if copies[_QUEUE].exists():
                    archive.add(copies[_QUEUE], _QUEUE)
            aside.rename(target)
        finally:
            aside.unlink(missing_ok=True)
    return [*places]


def restore(course: Path, source: Path, replace: bool) -> Path | None:
    """Restore the data of a backup, after all of it has been read.

    Args:
        replace: whether to set existing data aside; by default that is an error.

    Returns:
        The folder with the old data; None if there was none.

    Raises `CourseError` if the backup is damaged or another course's, something is in its place, or
    a service is running. Nothing has changed then.
    """
    fresh = course / _FRESH
    with one_at_a_time(course):
        places = _places(course)
        there = [name for name, path in places.items() if path.exists()]
        if there and not replace:
            raise CourseError(
                f"{course} holds {', '.join(there)} already; nothing was changed. With --replace, "
                "what is there is put aside"
            )
        _require_no_service(_databases(course)[_QUEUE])
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        try:
            _unpack(source, fresh, load_settings(course).id)
            aside = course / f"replaced-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}" if there else None
            with ExitStack() as undo:
                if aside:
                    aside.mkdir(mode=0o700)
                    undo.callback(aside.rmdir)
                for name, path in places.items():
                    # SQLite would read an old journal beside the database as the new one's.
                    for old in path.parent.glob(f"{path.name}*") if name == _GRADEBOOK else [path]:
                        if aside and old.exists():
                            _move(old, aside / old.name, undo)
                    if (fresh / name).exists():
                        _move(fresh / name, path, undo)
                undo.pop_all()  # All is in its place: nothing is undone.
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return aside


def _move(old: Path, new: Path, undo: ExitStack) -> None:
    old.rename(new)
    undo.callback(new.rename, old)


def _places(course: Path) -> dict[str, Path]:
    """Return the place of each thing that cannot be made again, by its name in a backup.

    Graded notebooks are among them: without, all would be graded once more.
    """
    folders = course_directory(course)
    names = (KEY, folders.submitted_directory, folders.autograded_directory, IMPORTED, WITHDRAWN,
             ATTEMPTS)  # fmt: skip
    return {_GRADEBOOK: _databases(course)[_GRADEBOOK], **{each: course / each for each in names}}


def _databases(course: Path) -> dict[str, Path]:
    url = make_url(course_directory(course).db_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise CourseError(
            "the gradebook is on a database server: let that server's own tool back it up, with "
            "the folders and the key that docs/settings.md lists"
        )
    return {_GRADEBOOK: Path(url.database), _QUEUE: course / _QUEUE}


def _copy_database(path: Path, copy: Path) -> None:
    """Copy an SQLite database as it is at one moment, while other programs write to it."""
    with (
        closing(sqlite3.connect(path, timeout=60)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")


class _Wanted:
    """Leaves out of a backup all but plain files, and attempts that are not in the copied queue."""

    def __init__(self, queue: Path) -> None:
        self._known: set[str] = set()
        if queue.exists():
            with closing(sqlite3.connect(queue)) as attempts:
                for folder, number in attempts.execute("SELECT folder, id FROM attempt"):
                    self._known |= {f"{ATTEMPTS}/files/{folder}", f"{ATTEMPTS}/pages/{number}.html"}

    def __call__(self, found: tarfile.TarInfo) -> tarfile.TarInfo | None:
        first, *rest = found.name.split("/")
        is_plain = found.isreg() or found.isdir() or found.islnk()
        if not is_plain or (rest and rest[-1].startswith(".") and rest[-1].endswith(".new")):
            return None
        if first != ATTEMPTS or not rest or rest[0] == "replaced":
            return found
        is_known = "/".join((first, *rest[:2])) in self._known
        return found if is_known or rest in (["files"], ["pages"]) else None


def _unpack(source: Path, fresh: Path, course_id: str) -> None:
    """Unpack a backup into an empty folder; raises `CourseError` unless all of it is whole."""
    try:
        with gzip.open(source) as whole:
            while whole.read(1 << 20):  # A file that was cut off, or changed, raises an error.
                pass
            whole.seek(0)
            with tarfile.open(fileobj=whole, mode="r:") as archive:
                archive.extractall(fresh, filter="data")
        about = json.loads((fresh / _ABOUT).read_text("utf-8"))
        for name in (_GRADEBOOK, _QUEUE):
            if (fresh / name).exists():
                with closing(sqlite3.connect(fresh / name)) as database:
                    found = database.execute("PRAGMA integrity_check").fetchone()[0]
                if found != "ok":
                    raise ValueError(f"{name}: {found}")
        made_for = about["course"] if about["schema"] == 1 else "a later version"
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, KeyError,
            sqlite3.DatabaseError) as error:  # fmt: skip
        raise CourseError(
            f"{source} is no whole backup ({error}); nothing was changed. Take another one"
        ) from error
    if made_for != course_id:
        raise CourseError(f"{source} is a backup of {made_for}, and this is {course_id}")


def _require_no_service(queue: Path) -> None:
    if not queue.exists():
        return
    with closing(sqlite3.connect(queue, timeout=1)) as database:
        try:
            # This fails while another program has the file open.
            database.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{queue} is in use ({error}). End `autograder serve`, and run the same again"
            ) from error
