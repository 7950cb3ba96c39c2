"""Reads the files of a download, a zip or a folder: plain files, a bounded amount, safe names.

The content and names of a download are untrusted. So a name is only ever a text to match: no file
is unpacked to the path that its name holds.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ...errors import CourseError, UnreadableNotebook
from ...notebook.intake import MAX_BYTES, read_plain_file
from ...texts import visible

MOST_FILES = 100_000
"""Greatest number of files of a download; one with more is refused."""

MOST_INSIDE = 500
"""Greatest number of files of a zip that a student handed in; one with more is left out."""

_LEFT_BY_PROGRAMS = re.compile(
    r"(^|/)(__MACOSX|\.ipynb_checkpoints|\.git)/"
    r"|(^|/)(\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$"
)
_ENTRY = b"PK\1\2"
"""First bytes of each entry of a zip's list."""

_UNICODE_PATH, _EXTENDED_TIME = 0x7075, 0x5455
_UTF_8, _ENCRYPTED = 1 << 11, 1
_DAMAGED = (
    OSError, ValueError, EOFError, OverflowError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
"""Errors that `zipfile` raises at damaged or unsupported zips."""
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class DownloadedFile:
    """One file of a download.

    Attributes:
        path: its path, in composed Unicode, with `/` between the parts.
        when: when it was last changed, in UTC, as the download claims; None if unknown.
        read: returns its content; raises `UnreadableNotebook` if that fails, or is over 50 MB.
    """

    path: str
    when: datetime | None
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass
class Download:
    """The files of a download, and those that were left out, each with the reason."""

    files: list[DownloadedFile] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, when: datetime | None, read: Callable[[], bytes]) -> None:
        path = unicodedata.normalize("NFC", name.replace("\\", "/"))
        if _LEFT_BY_PROGRAMS.search(path):
            return
        if why := _unsafe(path):
            self.left_out.append((visible(name), why))
        elif len(self.files) >= MOST_FILES:
            raise CourseError(
                f"the download holds over {MOST_FILES} files. Unpack it, and import parts of it."
            )
        else:
            self.files.append(DownloadedFile(posixpath.normpath(path), when, read))


@contextmanager
def opened(path: Path) -> Iterator[Download]:
    """Open the files of a zip or of a folder.

    Raises `CourseError` if it is neither.
    """
    found = Download()
    if path.is_dir():
        _add_folder(found, path)
        yield found
        return
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise CourseError(
            f"{path} is neither a folder nor a zip that can be read ({error}). Download it again."
        ) from error
    with archive:
        _add_archive(found, archive, path.name)
        yield found


def inside(file: DownloadedFile) -> Download:
    """Return the files of a zip in a download; none if it cannot be read, or holds too many."""
    found = Download()
    try:
        content = file.read()
        # Counted before they are listed, which takes time and memory for each.
        if content.count(_ENTRY) > MOST_INSIDE:
            found.left_out.append((visible(file.path), f"it holds over {MOST_INSIDE} files"))
        else:
            _add_archive(found, zipfile.ZipFile(io.BytesIO(content)), file.path)
    except (UnreadableNotebook, *_DAMAGED) as error:
        return Download(left_out=[(visible(file.path), f"it cannot be read ({error})")])
    return found


def _add_folder(found: Download, root: Path) -> None:
    for place, folders, names in os.walk(root):
        for folder in [each for each in folders if os.path.islink(os.path.join(place, each))]:
            found.left_out.append((visible(os.path.join(place, folder)), "it is a link"))
        for name in sorted(names):
            path = Path(place, name)
            status = path.lstat()
            when = datetime.fromtimestamp(status.st_mtime, UTC).replace(tzinfo=None)
            if stat.S_ISREG(status.st_mode):
                inner = _without_half_characters(path.relative_to(root).as_posix())
                found.add(inner, when, partial(read_plain_file, path))
            else:
                found.left_out.append((visible(str(path)), "it is a link, or no plain file"))


def _without_half_characters(name: str) -> str:
    """Return a file's name; if it is not in UTF-8, read as Western European."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("cp1252", "replace")
    return name


def _add_archive(found: Download, archive: zipfile.ZipFile, where: str) -> None:
    for info in archive.infolist():
        name, kind = _name(info), stat.S_IFMT(info.external_attr >> 16)
        if name.endswith(("/", "\\")):
            continue
        if kind and kind != stat.S_IFREG:
            found.left_out.append((visible(name), "it is a link, or no plain file"))
        elif info.flag_bits & _ENCRYPTED:
            found.left_out.append((visible(name), "it is encrypted"))
        elif info.compress_type not in _PLAIN:
            found.left_out.append((visible(name), "it is compressed in an unusual way"))
        else:
            found.add(name, _time(info), _reader_of_entry(archive, info, f"{where}: {name}"))


def _reader_of_entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str
) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with archive.open(info) as file:
                # The size in an entry is a claim.
                content = file.read(MAX_BYTES + 1)
        except _DAMAGED as error:
            raise UnreadableNotebook(
                f"{where}: cannot be read ({error}). Download it again."
            ) from error
        if len(content) > MAX_BYTES:
            raise UnreadableNotebook(f"{where}: the file is over {MAX_BYTES // 1_000_000} MB.")
        return content

    return read


def _name(info: zipfile.ZipInfo) -> str:
    """Return the entry's name. Python reads every name without the UTF-8 mark as cp437."""
    # The original name, since Python cuts it at a null character.
    raw = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF_8 else "cp437", "replace")
    if info.flag_bits & _UTF_8:
        return info.orig_filename
    for kind, content in _extra(info):
        if kind == _UNICODE_PATH and len(content) > 5:
            version, checksum = struct.unpack("<BI", content[:5])
            if version == 1 and checksum == zlib.crc32(raw):
                return content[5:].decode("utf-8", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return info.orig_filename


def _extra(info: zipfile.ZipInfo) -> Iterator[tuple[int, bytes]]:
    rest = info.extra
    while len(rest) >= 4:
        kind, length = struct.unpack("<HH", rest[:4])
        yield kind, rest[4 : 4 + length]
        rest = rest[4 + length :]


def _time(info: zipfile.ZipInfo) -> datetime | None:
    """Return when the entry was last changed, in UTC.

    That is its extended time if it has one; a zip's own times are local, and read as this
    machine's.
    """
    try:
        for kind, content in _extra(info):
            if kind == _EXTENDED_TIME and len(content) >= 5 and content[0] & 1:
                seconds = struct.unpack("<i", content[1:5])[0]
                return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        # Without a time, it is the earliest that a zip can hold.
        local = datetime(*info.date_time)
        return None if local.year == 1980 else local.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def _unsafe(path: str) -> str:
    """Return why a name cannot be a file's in a submission; "" if it can."""
    parts = path.split("/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or ".." in parts:
        return "its name leads out of the download"
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in path):
        return "its name holds a control character"
    if any(len(part.encode()) > 255 for part in parts):
        return "its name is too long"
    return ""
