"""Reads a download, which is a zip or a folder: regular files, bounded in number and size.

Contents and names are untrusted. A file's name is only matched against patterns, and no file is
unpacked to the path in its name, so that no name can lead out of a folder (zip slip).
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
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ..errors import CourseError, UnreadableNotebook
from ..notebook.intake import MAX_BYTES, read_plain_file
from ..texts import visible

MOST_FILES = 100_000
"""Greatest number of files of a download; a download with more files is rejected."""

MOST_INSIDE = 500
"""Greatest number of files of a zip that a student handed in; a zip with more is left out."""

_LONGEST_PATH = 1_000
"""Greatest number of bytes of a file's path in a download."""

_LEFT_BY_PROGRAMS = re.compile(
    r"(^|/)(__MACOSX|\.ipynb_checkpoints|\.git)/"
    r"|(^|/)(\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$"
)
_ENTRY = b"PK\1\2"
"""Signature of each entry in a zip's central directory."""

# Header ids of extra fields: Info-ZIP's Unicode Path, and its extended timestamp.
_UNICODE_PATH, _EXTENDED_TIME = 0x7075, 0x5455
# Bits of an entry's flags.
_UTF_8, _ENCRYPTED = 1 << 11, 1
_DAMAGED = (
    OSError, ValueError, EOFError, OverflowError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
"""Errors that `zipfile` raises for damaged or unsupported zips."""
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class DownloadedFile:
    """One file of a download.

    Attributes:
        path: the path within the download, in Unicode's composed form (NFC), with `/` between the
            parts.
        when: the time of the last change, in UTC, as the download claims; None if unknown.
        read: returns the content. Raises `UnreadableNotebook` if it cannot be read, or has over
            50 MB.
    """

    path: str
    when: datetime | None
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass
class Download:
    """The files of a download.

    Attributes:
        files: the files to read.
        left_out: pairs of a left-out file's name and the reason, both for messages.
    """

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
def open_download(path: Path) -> Iterator[Download]:
    """Open a download, whose files can be read until the context ends.

    Args:
        path: the path of a zip or a folder.

    Raises `CourseError` if `path` is neither.
    """
    download = Download()
    if path.is_dir():
        _add_folder(download, path)
        yield download
        return
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise CourseError(
            f"{path} is neither a folder nor a zip that can be read ({error}). Download it again."
        ) from error
    with archive:
        _add_archive(download, archive, path.name)
        yield download


def nested_download(file: DownloadedFile) -> Download:
    """Return the files of a zip that a student handed in.

    If the zip is damaged or holds too many files, `left_out` has the reason. The files have no
    times, since a student can set any time in a zip.
    """
    download = Download()
    try:
        content = file.read()
        # Count the entries' signatures in the bytes before opening the zip: `ZipFile` creates an
        # object for each entry, and a zip of 50 MB may have millions.
        if content.count(_ENTRY) > MOST_INSIDE:
            download.left_out.append((visible(file.path), f"it holds over {MOST_INSIDE} files"))
        else:
            _add_archive(download, zipfile.ZipFile(io.BytesIO(content)), file.path)
            download.files = [replace(each, when=None) for each in download.files]
    except (UnreadableNotebook, *_DAMAGED) as error:
        return Download(left_out=[(visible(file.path), f"it cannot be read ({error})")])
    return download


def _add_folder(download: Download, root: Path) -> None:
    for parent, folders, names in os.walk(root):
        for folder in [each for each in folders if os.path.islink(os.path.join(parent, each))]:
            download.left_out.append((visible(os.path.join(parent, folder)), "it is a link"))
        for name in sorted(names):
            path = Path(parent, name)
            status = path.lstat()
            when = datetime.fromtimestamp(status.st_mtime, UTC).replace(tzinfo=None)
            if stat.S_ISREG(status.st_mode):
                inner = _without_surrogates(path.relative_to(root).as_posix())
                download.add(inner, when, partial(read_plain_file, path))
            else:
                download.left_out.append((visible(str(path)), "it is a link, or no plain file"))


def _without_surrogates(name: str) -> str:
    """Return a file's name; if its bytes are not UTF-8, they are decoded as Windows-1252."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("cp1252", "replace")
    return name


def _add_archive(download: Download, archive: zipfile.ZipFile, where: str) -> None:
    for info in archive.infolist():
        name, kind = _name(info), stat.S_IFMT(info.external_attr >> 16)
        if name.endswith(("/", "\\")):
            continue
        if kind and kind != stat.S_IFREG:  # The upper half of the attributes is a Unix mode.
            download.left_out.append((visible(name), "it is a link, or no plain file"))
        elif info.flag_bits & _ENCRYPTED:
            download.left_out.append((visible(name), "it is encrypted"))
        elif info.compress_type not in _PLAIN:
            download.left_out.append((visible(name), "it is compressed in an unusual way"))
        else:
            download.add(name, _time(info), _reader_of_entry(archive, info, f"{where}: {name}"))


def _reader_of_entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str
) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with archive.open(info) as file:
                # The entry's stated size may be wrong (zip bomb), so the read itself is bounded.
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
    """Return the name of an entry: from the Unicode Path field, or as UTF-8, or as cp437.

    Python decodes names without the UTF-8 flag as cp437, but many programs write UTF-8 without it.
    """
    # `orig_filename`, since `filename` is cut at a null character.
    raw = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF_8 else "cp437", "replace")
    if info.flag_bits & _UTF_8:
        return info.orig_filename
    for kind, content in _extra_fields(info):
        if kind == _UNICODE_PATH and len(content) > 5:
            version, checksum = struct.unpack("<BI", content[:5])
            # Unless the checksum fits the name, the entry was renamed and the field is outdated.
            if version == 1 and checksum == zlib.crc32(raw):
                return content[5:].decode("utf-8", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return info.orig_filename


def _extra_fields(info: zipfile.ZipInfo) -> Iterator[tuple[int, bytes]]:
    """Yield the id and the content of each extra field of an entry."""
    rest = info.extra
    while len(rest) >= 4:
        kind, length = struct.unpack("<HH", rest[:4])
        yield kind, rest[4 : 4 + length]
        rest = rest[4 + length :]


def _time(info: zipfile.ZipInfo) -> datetime | None:
    """Return when the entry was last changed, in UTC; None if unknown.

    The extended timestamp is in UTC. Without it, the entry has a local time without a zone, which
    is taken to be in this machine's time zone.
    """
    try:
        for kind, content in _extra_fields(info):
            if kind == _EXTENDED_TIME and len(content) >= 5 and content[0] & 1:
                seconds = struct.unpack("<i", content[1:5])[0]
                return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        # Programs that do not know the time write 1980, the earliest year that a zip can hold.
        local = datetime(*info.date_time)
        return None if local.year == 1980 else local.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def _unsafe(path: str) -> str:
    """Return the reason why a path is rejected; "" if it is safe."""
    parts = path.split("/")
    if parts[-1] in ("", "."):
        return "it has no name"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or ".." in parts:
        return "its name leads out of the download"
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in path):
        return "its name holds a control character"
    if any(len(part.encode()) > 255 for part in parts) or len(path.encode()) > _LONGEST_PATH:
        return "its name is too long"
    return ""
