"""Backs up a course's data into one tar file, even while the course is in use; restores backups."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import make_url

from .course_folder.course import Course
from .course_folder.key import NAME as KEY
from .errors import CourseError
from .lms.importing import FOLDER as IMPORTED
from .pipeline.classroom import course_directory
from .pipeline.register import ASIDE as WITHDRAWN
from .service.attempts import FOLDER as ATTEMPTS
from .texts import visible

_ABOUT, _GRADEBOOK, _QUEUE = "backup.json", "gradebook.db", f"{ATTEMPTS}/attempts.db"
_FRESH = ".restored.new"

_PIECE = 1 << 20
"""Greatest number of bytes that are read at once."""
_BLOCK = 4096
"""Bytes that a file or folder takes on the disk in addition to its content, as an estimate."""

_PART = re.compile(r"(?!\.\.?$)[^/\0]+")
"""Pattern of one part of a path, other than `.` and `..`."""
_NAMES = {
    "attempt": {"folder": re.compile(r"[0-9a-f]{32}"), "student": _PART},
    "student": {"id": _PART},
    "assignment": {"name": _PART},
    "notebook": {"name": _PART},
}
"""By table and column: patterns of database values that become parts of paths.

They prevent path traversal. The column `assignment` of the table `attempt` needs no pattern: the
service looks its values up among the course's assignments before it uses them.
"""


def back_up(course: Course, target: Path) -> list[str]:
    """Write a backup atomically, as one consistent snapshot; programs that store marks wait for it.

    Args:
        target: the path of the new tar file.

    Returns:
        The names of the databases, folders and files in the backup.

    Raises `CourseError` if `target` exists, or the gradebook is on a database server.
    """
    if target.exists():
        raise CourseError(f"{target} is there already: choose another name")
    partial = target.with_name(f".{target.name}.new")
    with course.lock(), TemporaryDirectory(prefix="autograder-backup-") as scratch:
        paths = {name: path for name, path in _paths(course).items() if path.exists()}
        # The service stores marks before it sets an attempt's state to `graded`. So the queue is
        # copied before the gradebook: each attempt with the state `graded` in the copied queue has
        # its marks in the copied gradebook.
        copies = {name: Path(scratch) / Path(name).name for name in (_QUEUE, _GRADEBOOK)}
        for name, copy in copies.items():
            if (path := _databases(course)[name]).exists():
                _copy_database(path, copy)
        about = Path(scratch) / _ABOUT
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        course_id = course.settings.id
        about.write_text(json.dumps({"schema": 1, "course": course_id, "made": now}))
        backup_filter = _BackupFilter(copies[_QUEUE])
        try:
            partial.touch(mode=0o600)
            with tarfile.open(partial, "w:gz", compresslevel=1) as archive:
                archive.add(about, _ABOUT)
                for name, path in paths.items():
                    archive.add(copies.get(name, path), name, filter=backup_filter)
                if copies[_QUEUE].exists():
                    archive.add(copies[_QUEUE], _QUEUE)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
    return [*paths]


def restore(course: Course, source: Path, replace: bool) -> Path | None:
    """Restore a whole backup; if an error is raised, nothing has changed.

    Args:
        source: the path of the backup's tar file.
        replace: whether existing data is moved into a new folder; if False, existing data is an
            error.

    Returns:
        The folder with the existing data; None if there was none.

    Raises `CourseError` if the backup is damaged or of another course, if data exists, or if a
    service is running.
    """
    fresh = course.root / _FRESH
    with course.lock():
        paths = _paths(course)
        existing = [name for name, path in paths.items() if path.exists()]
        if existing and not replace:
            raise CourseError(
                f"{course} holds {', '.join(existing)} already; nothing was changed. With "
                "--replace, what is there is put aside"
            )
        _require_no_service(_databases(course)[_QUEUE])
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        try:
            _unpack(source, fresh, {_ABOUT, *paths}, course.settings.id)
            replaced = (
                course.root / f"replaced-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}" if existing else None
            )
            with ExitStack() as undo:
                if replaced:
                    replaced.mkdir(mode=0o700)
                    undo.callback(replaced.rmdir)
                for name, path in paths.items():
                    # Move the old gradebook with its journals, which SQLite would otherwise apply
                    # to the restored gradebook.
                    for old in path.parent.glob(f"{path.name}*") if name == _GRADEBOOK else [path]:
                        if replaced and old.exists():
                            _move(old, replaced / old.name, undo)
                    if (fresh / name).exists():
                        _move(fresh / name, path, undo)
                undo.pop_all()  # Commit: drop the callbacks that would undo the renames.
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return replaced


def _move(old: Path, new: Path, undo: ExitStack) -> None:
    """Rename a file or folder, and add a callback to `undo` that renames it back."""
    old.rename(new)
    undo.callback(new.rename, old)


def _paths(course: Course) -> dict[str, Path]:
    """Return the paths of a course's data, by name in a backup.

    Data that a command can create again is left out, except graded notebooks: without them, all
    submissions would be graded again.
    """
    folders = course_directory(course)
    names = (KEY, folders.submitted_directory, folders.autograded_directory, IMPORTED, WITHDRAWN,
             ATTEMPTS)  # fmt: skip
    paths = {each: course.root / each for each in names}
    return {_GRADEBOOK: _databases(course)[_GRADEBOOK], **paths}


def _databases(course: Course) -> dict[str, Path]:
    """Return the paths of the course's SQLite databases, by name in a backup.

    Raises `CourseError` if the gradebook is on a database server.
    """
    url = make_url(course_directory(course).db_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise CourseError(
            "the gradebook is on a database server: let that server's own tool back it up, with "
            "the folders and the key that docs/settings.md lists"
        )
    return {_GRADEBOOK: Path(url.database), _QUEUE: course.root / _QUEUE}


def _copy_database(path: Path, copy: Path) -> None:
    """Write a consistent snapshot of an SQLite database that other programs may be using."""
    with (
        closing(sqlite3.connect(path, timeout=60)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        # End WAL mode, so that the copy consists of one file.
        target.execute("PRAGMA journal_mode = DELETE")


class _BackupFilter:
    """Filter for `TarFile.add` that leaves out special files, unfinished files, and attempts
    without a row in the copied queue.

    Args:
        queue: the path of the copied queue, an SQLite database.
    """

    def __init__(self, queue: Path) -> None:
        self._known: set[str] = set()
        if queue.exists():
            with closing(sqlite3.connect(queue)) as attempts:
                for folder, number in attempts.execute("SELECT folder, id FROM attempt"):
                    self._known |= {f"{ATTEMPTS}/files/{folder}", f"{ATTEMPTS}/pages/{number}.html"}

    def __call__(self, entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        first, *rest = entry.name.split("/")
        is_allowed = entry.isreg() or entry.isdir() or entry.islnk()
        if not is_allowed or (rest and rest[-1].startswith(".") and rest[-1].endswith(".new")):
            return None
        if first != ATTEMPTS or not rest or rest[0] == "replaced":
            return entry
        is_known = "/".join((first, *rest[:2])) in self._known
        return entry if is_known or rest in (["files"], ["pages"]) else None


class _Bounded(gzip.GzipFile):
    """Gzip reader that raises `ValueError` if more than `_PIECE` bytes are to be read at once.

    `tarfile` reads an extended header at once, however large the archive says it is.
    """

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _PIECE:
            raise ValueError("an entry of its list is too long")
        return super().read(size)


def _unpack(source: Path, fresh: Path, places: Collection[str], course_id: str) -> None:
    """Check all entries of a backup, then unpack it into an empty folder.

    Args:
        source: the path of the backup's tar file.
        fresh: the path of the empty folder.
        places: the paths, in the backup, of the files and folders that a backup may hold.
        course_id: the course's id, which must be the one in the backup.

    Raises `CourseError` if the backup is damaged, is of another course, or differs in form from
    what `back_up` writes.
    """
    try:
        with _Bounded(source) as whole:
            while whole.read(
                _PIECE
            ):  # Read up to the checksum at the end: raises if the file was cut or changed.
                pass
            _require_valid(_entries(whole), places, shutil.disk_usage(fresh).free)
            for entry, archive in _entries(whole):
                _extract(entry, archive, fresh)
        about = json.loads((fresh / _ABOUT).read_text("utf-8"))
        for name in (_GRADEBOOK, _QUEUE):
            if (fresh / name).exists():
                with closing(sqlite3.connect(fresh / name)) as database:
                    faults = database.execute("PRAGMA integrity_check").fetchone()[0]
                    if faults != "ok":
                        raise ValueError(f"{name}: {faults}")
                    _require_names(database)
        made_for = about["course"] if about["schema"] == 1 else "a later version"
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError, KeyError,
            TypeError, RecursionError, sqlite3.DatabaseError) as error:  # fmt: skip
        raise CourseError(
            f"{visible(str(source))} is no whole backup ({visible(str(error))}); nothing was "
            "changed. Take another one"
        ) from error
    if made_for != course_id:
        made_for = visible(str(made_for))
        raise CourseError(f"{source} is a backup of {made_for}, and this is {course_id}")


def _entries(whole: gzip.GzipFile) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """Yield each entry of an uncompressed tar file, with the open archive."""
    whole.seek(0)
    with tarfile.open(fileobj=whole, mode="r:") as archive:
        while (entry := archive.next()) is not None:
            vars(archive)["members"].clear()  # `archive` would keep a list of all entries.
            yield entry, archive


def _require_valid(
    entries: Iterable[tuple[tarfile.TarInfo, tarfile.TarFile]], places: Collection[str], room: int
) -> None:
    """Raise `ValueError` for an entry that `back_up` never writes, or if the disk has too little
    room.

    A valid entry is a regular file, a folder, or a hard link to a regular file that came before it.
    Its name is one of `places`, or lies below one of them in a folder that came before it. No name
    occurs twice.

    Args:
        room: the free space on the disk in bytes.
    """
    kinds: dict[str, bytes] = {}
    size = 0
    for entry, _ in entries:
        name, above = entry.name, entry.name.rpartition("/")[0]
        parts = name.split("/")
        is_inside = not {"", ".", ".."} & {*parts} and "\0" not in name
        is_known = any(name == place or name.startswith(f"{place}/") for place in places)
        if not (is_inside and is_known):
            raise ValueError(f"{name} is not in a course's data")
        if name in kinds or (name not in places and kinds.get(above) != tarfile.DIRTYPE):
            raise ValueError(f"{name} is there twice, or without its folder")
        if entry.type == tarfile.LNKTYPE:
            if kinds.get(entry.linkname) != tarfile.REGTYPE:
                raise ValueError(f"{name} is a link to something else")
        elif entry.type not in (tarfile.REGTYPE, tarfile.DIRTYPE) or entry.sparse is not None:
            raise ValueError(f"{name} is no plain file")
        kinds[name] = tarfile.REGTYPE if entry.type == tarfile.LNKTYPE else entry.type
        size += max(entry.size, 0) + _BLOCK
        if size > room:
            raise ValueError(f"it holds more than the {room // 1_000_000} MB that are free here")


def _extract(entry: tarfile.TarInfo, archive: tarfile.TarFile, fresh: Path) -> None:
    """Write a checked entry below `fresh`, so that only the owner can write to the new file or
    folder."""
    path = fresh / entry.name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if entry.isdir():
        path.mkdir(mode=0o700 | entry.mode & 0o055)
    elif entry.islnk():
        path.hardlink_to(fresh / entry.linkname)
    elif (content := archive.extractfile(entry)) is not None:
        with content, path.open("xb") as file:
            shutil.copyfileobj(content, file)
        path.chmod(0o600 | entry.mode & 0o055)
        os.utime(path, (entry.mtime, entry.mtime))


def _require_names(database: sqlite3.Connection) -> None:
    """Raise `ValueError` if a value in a database does not match its pattern in `_NAMES`."""
    for table, columns in _NAMES.items():
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            for row in database.execute(f"SELECT {', '.join(columns)} FROM {table}"):
                for column, value in zip(columns, row, strict=True):
                    if not isinstance(value, str) or not columns[column].fullmatch(value):
                        raise ValueError(f"{value!r} cannot be a {table}'s {column}")


def _require_no_service(queue: Path) -> None:
    """Raise `CourseError` while a service has the queue's database open."""
    if not queue.exists():
        return
    with closing(sqlite3.connect(queue, timeout=1)) as database:
        try:
            # Leaving WAL mode fails while another program is connected to the database.
            database.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{queue} is in use ({error}). End `autograder serve`, and run the same again"
            ) from error
