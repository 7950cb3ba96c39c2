"""Groups the files of a download by student, by the names that each system gives files.

Moodle: `Ada Adler_4711_assignsubmission_file/` with the files in it (with `_` at the end before
4.1), or the files with that in front of their names. The number is the participant's in this
assignment. Canvas: `adlerada_LATE_101_2002_value.ipynb`, with the user's and the file's number.
Gradescope: a folder for each submission, and `submission_metadata.yml` that says whose it is.
Blackboard: `Value_adler1_attempt_2030-03-05-08-00-00_value.ipynb`, with the user name. Brightspace:
folders `101-2002 - Ada Adler - Mar 5, 2030 800 AM`. ILIAS: folders `Adler_Ada_adler1_101`, with
login and number. Sakai: folders `Adler, Ada(adler1)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from ...errors import CourseError, UnreadableNotebook
from ...faults import kept_at
from .archives import DownloadedFile, inside

_FOLDERS = {
    "brightspace": re.compile(
        r"\d+-\d+ - (?P<who>.+?) - (?P<when>[A-Z][a-z]+ \d+, \d{4} \d{3,4} [AP]M)"
    ),
    "ilias": re.compile(r"[^_]+_[^_]+_(?P<who>.+)_\d+"),
    "sakai": re.compile(r".+,.*\((?P<who>[^()]+)\)"),
}
"""Pattern of the name of a student's folder, with the name or login, by system."""

FORMS = ("moodle", "blackboard", *_FOLDERS, "canvas", "gradescope", "plain")

_METADATA = "submission_metadata.yml"
_MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?"
)
_BLACKBOARD = re.compile(
    r"(?:.+?_)?(?P<who>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)"
)
_CANVAS = re.compile(
    r"(?:(?P<name>.+?)_)?(?P<late>LATE_)?(?P<number>\d+|anon_[^_]+)_(?P<attachment>\d+)_(?P<file>.+)"
)
_ATTEMPTS = ("blackboard", "brightspace")
"""The systems whose downloads hold all attempts of a student: the last one counts."""

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_COPY = re.compile(r"(?P<stem>.*?)(?: ?\((?P<copy>\d+)\)|-(?P<again>\d+)|[ -]Copy\d*)?", re.DOTALL)
_AT_ONCE = timedelta(minutes=15)
"""If the times of all files of a download lie within this, they are the time of the download."""


_Read = tuple[str, "Handed"]
"""A file's name in its submission, and the submission."""


@dataclass
class Handed:
    """One person's submission in a download.

    Attributes:
        form: its system, one of `FORMS`.
        place: its folder or file, which names it in the download and in a mapping.
        names: the person's names in the download.
        numbers: the person's numbers in the system.
        emails: of the person.
        words: parts of a plain path that may be any of these.
        files: by their names in the submission.
        when: when it was handed in, in UTC; None if unknown.
        late: whether the system calls it late.
        order: greater for the later of two submissions, if times are unknown.
        prefix: the beginning of a feedback file's name, by which the system finds the student.
        trouble: files that could not be unpacked, in words.
    """

    form: str
    place: str
    names: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    files: dict[str, DownloadedFile] = field(default_factory=dict)
    when: datetime | None = None
    late: bool = False
    order: int = 0
    prefix: str = ""
    trouble: str = ""

    def unpack(self) -> None:
        """If there is one zip and no notebook, put the files of the zip in its place."""
        zips = [name for name in self.files if name.lower().endswith(".zip")]
        if len(zips) == 1 and not any(_is_notebook(name) for name in self.files):
            inner = inside(self.files[zips[0]])
            self.trouble = "; ".join(f"{path}: {why}" for path, why in inner.left_out[:3])
            if any(_is_notebook(file.path) for file in inner.files):
                del self.files[zips[0]]
                for file in inner.files:
                    self.files.setdefault(file.path, file)

    def notebooks(self, names: Sequence[str], chosen: str = "") -> dict[str, str]:
        """Return the files that are the assignment's notebooks, by the names of these.

        An assignment's only notebook may have another name; of several, some may be missing.

        Args:
            chosen: the path of the file that a mapping names as the only notebook.

        Raises `UnreadableNotebook` if there is none, or if several files may be the same one.
        """
        found = {name: self._newest(name) for name in names}
        if len(names) == 1:
            of_mapping = [inner for inner, file in self.files.items() if file.path == chosen]
            there = [inner for inner in self.files if _is_notebook(inner)]
            several = of_mapping, found[names[0]], there
            found[names[0]] = next((each for each in several if len(each) == 1), there)
        if not any(found.values()) or any(len(each) > 1 for each in found.values()):
            there = [inner for inner in self.files if _is_notebook(inner)] or [*self.files]
            what = ", ".join(sorted(there)[:10]) or "nothing"
            what += f" ({self.trouble})" if self.trouble else ""
            which = " or ".join(f"{name}.ipynb" for name in names)
            way = "Name the file itself in a mapping" if len(names) == 1 else "Rename it there"
            raise UnreadableNotebook(
                f"{self.place}: which file is {which}? It holds {what}. {way}."
            )
        return {name: each[0] for name, each in found.items() if each}

    def _newest(self, name: str) -> list[str]:
        """Return the files of a notebook's name; if a student or a browser saved it again and
        again, those with the highest number."""
        numbered = {}
        for each in filter(_is_notebook, self.files):
            parts = _COPY.fullmatch(_stem(each.rpartition("/")[2]))
            if parts and parts["stem"].casefold() == name.casefold():
                numbered[each] = int(parts["copy"] or parts["again"] or 0)
        return [each for each in numbered if numbered[each] == max(numbered.values())]


def handed_in(
    files: list[DownloadedFile], knows: Callable[[str], bool], form: str | None = None
) -> list[Handed]:
    """Group a download's files by submission.

    Args:
        knows: whether a part of a plain path names a student.
        form: one of `FORMS`; by default recognised by the names.

    Raises `CourseError` if Gradescope's list cannot be read.
    """
    # A file of that name in a student's folder is no list of all submissions.
    lists = [
        file
        for file in files
        if file.name == _METADATA
        and all(each.path.startswith(file.path.removesuffix(_METADATA)) for each in files)
    ]
    if form == "gradescope" or (form is None and lists):
        if len(lists) != 1:
            raise CourseError(
                f"{len(lists)} files are called {_METADATA}, where one says whose each submission "
                "is. Import Gradescope's export as it was downloaded."
            )
        return _of_gradescope(files, lists[0])
    found: dict[tuple[str, str], Handed] = {}
    for file in files:
        if (one := _read(file, knows, form)) is not None:
            inner, handed = one
            known = found.setdefault((handed.form, handed.place), handed)
            if handed.form in _ATTEMPTS and handed.order != known.order:
                if handed.order < known.order:
                    continue
                known.files.clear()
            known.files.setdefault(inner, file)
            known.order = max(known.order, handed.order)
    several = _unpacked(found.values())
    _take_times(several)
    return several


def _unpacked(several: Iterable[Handed]) -> list[Handed]:
    for each in several:
        with kept_at(each.place) as fault:
            each.unpack()
        each.trouble = fault.reason or each.trouble
    return [*several]


def _read(file: DownloadedFile, knows: Callable[[str], bool], form: str | None) -> _Read | None:
    """Return the submission that a file belongs to, by the first part of its path that a learning
    management system has named.

    The student chose the names of the parts after it, which may look like another student's.
    """
    parts = file.path.split("/")
    for place, part in enumerate(parts):
        is_file = place == len(parts) - 1
        if form in (None, "moodle") and (moodle := _of_moodle(parts, place)):
            return moodle
        for kind in _FOLDERS if not is_file else ():
            if form in (None, kind) and (folder := _of_folder(kind, parts, place, knows)):
                return folder
        if is_file:
            named: list[tuple[int, _Read]] = [
                *(_of_blackboard(part, knows) if form in (None, "blackboard") else ()),
                *(_of_canvas(part) if form in (None, "canvas") else ()),
            ]
            if named:
                return min(named, key=lambda each: each[0])[1]
        if form in (None, "plain") and (is_file or knows(part)):
            return _plain(parts, place)
    return None


def _of_moodle(parts: list[str], place: int) -> _Read | None:
    part = parts[place]
    match = _MOODLE.fullmatch(part)
    if match is None:
        return None
    is_flat = place == len(parts) - 1
    inner = (match["file"] or "") if is_flat else "/".join(parts[place + 1 :])
    own = part[: len(part) - len(match["file"] or "")] if is_flat else part
    handed = Handed("moodle", own, [match["name"]], [match["number"]])
    handed.prefix = own if is_flat else f"{own}/"
    return inner, handed


def _of_blackboard(name: str, knows: Callable[[str], bool]) -> Iterator[tuple[int, _Read]]:
    """Yield each reading of a name, with the number of parts that it takes; likewise for Canvas."""
    match = _BLACKBOARD.fullmatch(name)
    if match is not None and knows(match["who"]):
        order = int(match["when"].replace("-", ""))
        handed = Handed("blackboard", match["who"], words=[match["who"]], order=order)
        yield match.start("who"), (match["file"] or name, handed)


def _of_folder(
    kind: str, parts: list[str], place: int, knows: Callable[[str], bool]
) -> _Read | None:
    """Read the name of a student's folder in a system's form."""
    match = _FOLDERS[kind].fullmatch(parts[place])
    if match is None or not knows(match["who"]):
        return None
    handed = Handed(kind, match["who"], words=[match["who"]])
    if kind == "brightspace":
        handed.order = _order_of(match["when"])
    return "/".join(parts[place + 1 :]), handed


def _order_of(when: str) -> int:
    """Return a number that grows with Brightspace's time, such as `Mar 5, 2030 800 AM`."""
    month, day, year, clock, half = when.replace(",", "").split()
    hours, minutes = divmod(int(clock), 100)
    hours = hours % 12 + 12 * (half == "PM")
    number = _MONTHS.index(month[:3]) if month[:3] in _MONTHS else 0
    return ((int(year) * 12 + number) * 31 + int(day)) * 1440 + hours * 60 + minutes


def _of_canvas(name: str) -> Iterator[tuple[int, _Read]]:
    match = _CANVAS.fullmatch(name)
    if match is not None:
        own = name[: match.start("attachment") - 1]
        names = [match["name"]] if match["name"] else []
        handed = Handed("canvas", own, names, [match["number"]], late=bool(match["late"]))
        handed.order = int(match["attachment"])
        handed.prefix = name[: match.start("file")]
        yield match.start("number"), (match["file"], handed)


def _plain(parts: list[str], place: int) -> _Read:
    """Return the submission of a plain path whose part at `place` names a student."""
    handed = Handed("plain", "/".join(parts[: place + 1]), words=parts[: place + 1])
    if place == len(parts) - 1:
        handed.words[-1] = _stem(parts[-1])
    return "/".join(parts[place + 1 :]) or parts[-1], handed


def _of_gradescope(files: Iterable[DownloadedFile], listed: DownloadedFile) -> list[Handed]:
    try:
        given = yaml.load(listed.read(), _Loader)
        root = listed.path.removesuffix(_METADATA)
        known = {}
        for name, about in given.items():
            people = about[":submitters"]
            known[str(name)] = Handed(
                "gradescope", str(name),
                [str(each.get(":name") or "") for each in people],
                [str(each[":sid"]) for each in people if each.get(":sid")],
                [str(each[":email"]) for each in people if each.get(":email")],
                when=_utc(about.get(":created_at")),
            )  # fmt: skip
    except (UnreadableNotebook, yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise CourseError(
            f"{listed.path} is not what Gradescope writes ({error}). Export the submissions again."
        ) from error
    for file in files:
        inner = file.path.removeprefix(root).split("/")
        if inner[0] in known and file.path.startswith(root):
            known[inner[0]].files["/".join(inner[1:]) or inner[0]] = file
    return _unpacked(known.values())


class _Loader(yaml.SafeLoader):
    """Reads YAML written by Ruby as plain data, whatever classes it names."""


def _as_plain_data(loader: yaml.SafeLoader, kind: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("!", _as_plain_data)


def _utc(when: object) -> datetime | None:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if not isinstance(when, datetime):
        return None
    return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)


def _take_times(several: list[Handed]) -> None:
    """Use the files' times as times of submission, unless they are the time of the download.

    Canvas writes only the latter, and so do many versions of Moodle.
    """
    claimed = {
        id(each): max((file.when for file in each.files.values() if file.when), default=None)
        for each in several
        if each.form != "canvas"
    }
    times = [when for when in claimed.values() if when is not None]
    if times and max(times) - min(times) > _AT_ONCE:
        for each in several:
            each.when = claimed.get(id(each))


def _stem(name: str) -> str:
    return re.sub(r"\.ipynb(\.txt|\.json)?$", "", name, flags=re.IGNORECASE)


def _is_notebook(name: str) -> bool:
    return _stem(name) != name
