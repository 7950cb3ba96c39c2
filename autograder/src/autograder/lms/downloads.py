"""Groups the files of a download by submission, by each system's naming scheme.

Moodle: folders such as `Ada Adler_4711_assignsubmission_file` (before 4.1 with `_` at the end), or
files whose names begin with the same text. The number is the participant's in this assignment.
Canvas: files such as `adlerada_LATE_101_2002_value.ipynb`, with the numbers of the user and of the
file. Gradescope: a folder for each submission, and the list `submission_metadata.yml` with the
students of each folder. Blackboard: files such as
`Value_adler1_attempt_2030-03-05-08-00-00_value.ipynb`, with the user name. Brightspace: folders
such as `101-2002 - Ada Adler - Mar 5, 2030 800 AM`. ILIAS: folders such as `Adler_Ada_adler1_101`,
with login and number. Sakai: folders such as `Adler, Ada(adler1)`. CoCalc: folders with a file such
as `STUDENT - Ada Adler.txt`. Teams: folders such as `Ada Adler/First week/Version 2`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from ..errors import CourseError, UnreadableNotebook
from ..isolation import isolated_errors
from ..notebook.intake import SUFFIX
from .archives import DownloadedFile, nested_download

_FOLDERS = {
    "brightspace": re.compile(
        r"\d+-\d+ - (?P<who>.+?) - (?P<when>[A-Z][a-z]+ \d+, \d{4} \d{3,4} [AP]M)"
    ),
    "ilias": re.compile(r"[^_]+_[^_]+_(?P<who>.+)_\d+"),
    "sakai": re.compile(r".+,.*\((?P<who>[^()]+)\)"),
}
"""By system: pattern of the name of a student's folder, with the student's name or login as `who`
and the submission time as `when`."""

FORMS = ("moodle", "blackboard", *_FOLDERS, "cocalc", "canvas", "gradescope", "plain")

FILES, LISTED, WORKSHEET, MAPPING = "files", "list", "worksheet", "mapping"
CLOCKS = {
    FILES: "the download's times of files",
    LISTED: "Gradescope's list",
    WORKSHEET: "the worksheet",
    MAPPING: "the mapping",
}
"""Sources of a submission time, with their names in messages. A file that a student wrote is never
a source."""

_METADATA = "submission_metadata.yml"
_GRADESCOPE = re.compile(rf"(assignment_\d+_export/)?{re.escape(_METADATA)}")
"""Pattern of the path of Gradescope's list. It is at the top level, where students cannot put
files."""
_MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)"
    r"(?:_(?P<file>.*)|\.html)?"
)
_ONLINE_TEXT = "_assignsubmission_onlinetext"
_COCALC = re.compile(r"STUDENT - (?P<who>.+)\.txt")
_VERSION = re.compile(r"(?:.*/)?Version (?P<number>\d{1,6})/.+", re.DOTALL)
"""Pattern of the path of a file in Teams' folder of an attempt."""
_BLACKBOARD = re.compile(
    r"(?:.+?_)?(?P<who>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)"
)
_CANVAS = re.compile(
    r"(?:(?P<name>.+?)_)?(?P<late>LATE_)?(?P<number>\d+|anon_[^_]+)_(?P<attachment>\d+)_(?P<file>.+)"
)
_ATTEMPTS = ("blackboard", "brightspace")
"""Systems whose downloads hold all attempts of a student; the last attempt is imported."""

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_COPY = re.compile(r"(?P<stem>.*?)(?: ?\((?P<copy>\d+)\)|-(?P<again>\d+)|[ -]Copy\d*)?", re.DOTALL)
AT_ONCE = timedelta(minutes=15)
"""Length of an interval: if all files' times lie within it, they count as the time of the download,
and not as times of submission."""


_Read = tuple[str, "DownloadedSubmission"]
"""A file's path within its submission, and the submission."""


@dataclass
class DownloadedSubmission:
    """One submission of a student, or of a group, in a download.

    Attributes:
        form: the naming scheme, one of `FORMS`.
        place: the submission's name in reports and mappings: the part of a path that identifies it.
        names: the students' names in the download; several for a group.
        numbers: the students' ids in the system.
        emails: the students' e-mail addresses.
        words: parts of a path, each of which may be the student's name, id or e-mail address.
        files: the files, by path within the submission.
        when: when the submission was handed in, in UTC; None if unknown.
        clock: the source of `when`, one of `CLOCKS`; "" if unknown.
        late: whether the system marks the submission as late.
        order: a number that increases with the time of submission, for systems that have one in the
            names of files; 0 for others.
        prefix: the text before a feedback page's file name, by which the system finds the student.
        trouble: a sentence on files that could not be unpacked; "" if there are none.
    """

    form: str
    place: str
    names: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    files: dict[str, DownloadedFile] = field(default_factory=dict)
    when: datetime | None = None
    clock: str = ""
    late: bool = False
    order: int = 0
    prefix: str = ""
    trouble: str = ""

    def unpack(self) -> None:
        """If the submission has one zip and no notebook, replace the zip by the files in it.

        A zip without a notebook stays.
        """
        zips = [name for name in self.files if name.lower().endswith(".zip")]
        if len(zips) == 1 and not any(_is_notebook(name) for name in self.files):
            inner = nested_download(self.files[zips[0]])
            self.trouble = "; ".join(f"{path}: {why}" for path, why in inner.left_out[:3])
            if any(_is_notebook(file.path) for file in inner.files):
                archive = self.files.pop(zips[0])
                for file in inner.files:
                    # With the zip's path in front, no other student's file has the same path, by
                    # which a mapping names a file.
                    path = f"{archive.path}/{file.path}"
                    self.files.setdefault(file.path, replace(file, path=path))

    def keep_last_version(self) -> None:
        """Remove the files of all but the last of Teams' folders `Version 1`, `Version 2`, …"""
        found = {path: _VERSION.fullmatch(path) for path in self.files}
        numbers = {path: int(match["number"]) for path, match in found.items() if match}
        if numbers:
            last = max(numbers.values())
            kept = {path for path, number in numbers.items() if number == last}
            self.files = {path: file for path, file in self.files.items() if path in kept}

    def notebooks(self, names: Sequence[str], chosen: str = "") -> dict[str, str]:
        """Return the path of the submitted file for each of the assignment's notebooks, by notebook
        name.

        If the assignment has one notebook, the file may have another name. If it has several, some
        files may be missing.

        Args:
            names: the names of the assignment's notebooks, without `.ipynb`.
            chosen: the path, in the download, of the file that a mapping names; used if the
                assignment has one notebook.

        Raises `UnreadableNotebook` if there is no file for any notebook, or several for one.
        """
        candidates = {name: self._newest(name) for name in names}
        if len(names) == 1:
            # Take the mapping's file; else the file with the right name; else the only notebook.
            of_mapping = [inner for inner, file in self.files.items() if file.path == chosen]
            notebooks = [inner for inner in self.files if _is_notebook(inner)]
            choices = of_mapping, candidates[names[0]], notebooks
            candidates[names[0]] = next((each for each in choices if len(each) == 1), notebooks)
        if not any(candidates.values()) or any(len(each) > 1 for each in candidates.values()):
            there = [inner for inner in self.files if _is_notebook(inner)] or [*self.files]
            what = ", ".join(sorted(there)[:10]) or "nothing"
            what += f" ({self.trouble})" if self.trouble else ""
            which = " or ".join(f"{name}.ipynb" for name in names)
            way = "Name the file itself in a mapping" if len(names) == 1 else "Rename it there"
            raise UnreadableNotebook(
                f"{self.place}: which file is {which}? It holds {what}. {way}."
            )
        return {name: paths[0] for name, paths in candidates.items() if paths}

    def _newest(self, name: str) -> list[str]:
        """Return the paths of the files with a notebook's name, in upper or lower case.

        Of numbered copies, such as `value (2).ipynb`, only those with the highest number are
        returned.
        """
        numbered = {}
        for path in filter(_is_notebook, self.files):
            parts = _COPY.fullmatch(_stem(path.rpartition("/")[2]))
            if parts and parts["stem"].casefold() == name.casefold():
                numbered[path] = int(parts["copy"] or parts["again"] or 0)
        return [path for path in numbered if numbered[path] == max(numbered.values())]


def group_by_submission(
    files: list[DownloadedFile], knows: Callable[[str], bool], form: str | None = None
) -> list[DownloadedSubmission]:
    """Group a download's files by submission.

    Args:
        files: the files of the download.
        knows: returns whether a part of a path names a student of the gradebook.
        form: the naming scheme, one of `FORMS`; by default it is recognised for each file by its
            path.

    Raises `CourseError` if Gradescope's list is missing or cannot be read.
    """
    lists = [
        file
        for file in files
        if _GRADESCOPE.fullmatch(file.path)
        and all(each.path.startswith(file.path.removesuffix(_METADATA)) for each in files)
    ]
    if form == "gradescope" or (form is None and lists):
        if len(lists) != 1:
            raise CourseError(
                f"it has {len(lists)} files {_METADATA} at its top, where one says whose each "
                "submission is. Import Gradescope's export as it was downloaded."
            )
        return _of_gradescope(files, lists[0])
    submissions: dict[tuple[str, str], DownloadedSubmission] = {}
    owners = _owners_in_cocalc(files) if form in (None, "cocalc") else {}
    for file in files:
        reading = _of_cocalc(file, owners) or _read(file, knows, form)
        if reading is not None:
            inner, of_file = reading
            # Moodle's text and file of a participant are one submission.
            is_moodle = of_file.form == "moodle"
            key = " ".join(of_file.names + of_file.numbers) if is_moodle else of_file.place
            submission = submissions.setdefault((of_file.form, key), of_file)
            if _ONLINE_TEXT in submission.place and _ONLINE_TEXT not in of_file.place:
                submission.place, submission.prefix = of_file.place, of_file.prefix
            # Keep only the files of the last attempt, in whichever order attempts come.
            if of_file.form in _ATTEMPTS and of_file.order != submission.order:
                if of_file.order < submission.order:
                    continue
                submission.files.clear()
            submission.files.setdefault(inner, file)
            submission.order = max(submission.order, of_file.order)
    for submission in submissions.values():
        submission.keep_last_version()
    _set_file_times(submissions.values())
    return _unpack(submissions.values())


def _owners_in_cocalc(files: Iterable[DownloadedFile]) -> dict[str, str]:
    """Return the student's name of each of CoCalc's folders, by the folder's path.

    A folder with several names is left out: a student may have added one.
    """
    names: dict[str, list[str]] = {}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        if match := _COCALC.fullmatch(name):
            names.setdefault(folder, []).append(match["who"])
    # A folder of such a name below another one is the student's own.
    tops = [each for each in names if not any(each.startswith(f"{other}/") for other in names)]
    return {folder: names[folder][0] for folder in tops if len(names[folder]) == 1}


def _of_cocalc(file: DownloadedFile, owners: dict[str, str]) -> _Read | None:
    for folder, who in owners.items():
        if file.path.startswith(f"{folder}/"):
            submission = DownloadedSubmission("cocalc", folder, words=[who])
            return file.path.removeprefix(f"{folder}/"), submission
    return None


def _unpack(submissions: Iterable[DownloadedSubmission]) -> list[DownloadedSubmission]:
    """Unpack the zips that students handed in.

    Call this after submission times are set: times within a zip are the student's own choice.
    """
    for submission in submissions:
        with isolated_errors(submission.place) as fault:
            submission.unpack()
        submission.trouble = fault.reason or submission.trouble
    return [*submissions]


def _read(file: DownloadedFile, knows: Callable[[str], bool], form: str | None) -> _Read | None:
    """Return a file's path within its submission, and the submission; None if it belongs to none.

    The first part of the path that has the form of a system decides. Students choose the names of
    the parts after it, and could choose another student's name.
    """
    parts = file.path.split("/")
    for index, part in enumerate(parts):
        is_file = index == len(parts) - 1
        if form in (None, "moodle") and (moodle := _of_moodle(parts, index)):
            return moodle
        for kind in _FOLDERS if not is_file else ():
            if form in (None, kind) and (folder := _of_folder(kind, parts, index, knows)):
                return folder
        if is_file:
            # A name may have both forms. The form in which the student's id comes earlier in the
            # name counts: everything after the id is the student's own choice.
            named: list[tuple[int, _Read]] = [
                *(_of_blackboard(part, knows) if form in (None, "blackboard") else ()),
                *(_of_canvas(part) if form in (None, "canvas") else ()),
            ]
            if named:
                return min(named, key=lambda each: each[0])[1]
        if form in (None, "plain") and (is_file or knows(part)):
            return _plain(parts, index)
    return None


def _of_moodle(parts: list[str], index: int) -> _Read | None:
    """Parse the part of a path at `index` in Moodle's form; None if it has another form.

    The part is a student's folder, or a file in whose name Moodle's text is in front.
    """
    part = parts[index]
    match = _MOODLE.fullmatch(part)
    if match is None:
        return None
    is_flat = index == len(parts) - 1
    inner = (match["file"] or part) if is_flat else "/".join(parts[index + 1 :])
    place = part[: len(part) - len(match["file"] or "")] if is_flat else part
    submission = DownloadedSubmission("moodle", place, [match["name"]], [match["number"]])
    submission.prefix = place if is_flat else f"{place}/"
    return inner, submission


def _of_blackboard(name: str, knows: Callable[[str], bool]) -> Iterator[tuple[int, _Read]]:
    """Yield the position of the student's id in a file's name, and the reading of the name.

    Yields nothing unless the name has Blackboard's form.
    """
    match = _BLACKBOARD.fullmatch(name)
    if match is not None and knows(match["who"]):
        order = int(match["when"].replace("-", ""))
        submission = DownloadedSubmission(
            "blackboard", match["who"], words=[match["who"]], order=order
        )
        yield match.start("who"), (match["file"] or name, submission)


def _of_folder(
    kind: str, parts: list[str], index: int, knows: Callable[[str], bool]
) -> _Read | None:
    """Parse the part of a path at `index` as a student's folder in the form of the system `kind`.

    None if it has another form.
    """
    match = _FOLDERS[kind].fullmatch(parts[index])
    if match is None or not knows(match["who"]):
        return None
    submission = DownloadedSubmission(kind, match["who"], words=[match["who"]])
    if kind == "brightspace":
        submission.order = _order_of(match["when"])
    return "/".join(parts[index + 1 :]), submission


def _order_of(when: str) -> int:
    """Return a number that increases with a time in Brightspace's form, `Mar 5, 2030 800 AM`."""
    month, day, year, clock, half = when.replace(",", "").split()
    hours, minutes = divmod(int(clock), 100)
    hours = hours % 12 + 12 * (half == "PM")
    number = _MONTHS.index(month[:3]) if month[:3] in _MONTHS else 0
    return ((int(year) * 12 + number) * 31 + int(day)) * 1440 + hours * 60 + minutes


def _of_canvas(name: str) -> Iterator[tuple[int, _Read]]:
    """Yield the position of the user's number in a file's name, and the reading of the name.

    Yields nothing unless the name has Canvas's form.
    """
    match = _CANVAS.fullmatch(name)
    if match is not None:
        place = name[: match.start("attachment") - 1]
        names = [match["name"]] if match["name"] else []
        submission = DownloadedSubmission(
            "canvas", place, names, [match["number"]], late=bool(match["late"])
        )
        submission.order = int(match["attachment"])
        submission.prefix = name[: match.start("file")]
        yield match.start("number"), (match["file"], submission)


def _plain(parts: list[str], index: int) -> _Read:
    """Return the reading of a path in no system's form: its parts up to `index` name the
    submission."""
    submission = DownloadedSubmission(
        "plain", "/".join(parts[: index + 1]), words=parts[: index + 1]
    )
    if index == len(parts) - 1:
        # Google's products write `Ada Lee - value.ipynb`.
        submission.words[-1:] = [_stem(parts[-1]), *re.split(r" [-–] |\.ipynb", parts[-1])]
    return "/".join(parts[index + 1 :]) or parts[-1], submission


def _of_gradescope(
    files: Iterable[DownloadedFile], listed: DownloadedFile
) -> list[DownloadedSubmission]:
    """Group a Gradescope export's files by folder.

    Args:
        listed: the file with Gradescope's list, which names the students of each folder.
    """
    try:
        metadata = yaml.load(listed.read(), _Loader)
        root = listed.path.removesuffix(_METADATA)
        submissions = {}
        for name, about in metadata.items():
            people = about[":submitters"]
            submission = submissions[str(name)] = DownloadedSubmission(
                "gradescope", str(name),
                [str(each.get(":name") or "") for each in people],
                [str(each[":sid"]) for each in people if each.get(":sid")],
                [str(each[":email"]) for each in people if each.get(":email")],
                when=_utc(about.get(":created_at")),
            )  # fmt: skip
            submission.clock = LISTED if submission.when else ""
    except (UnreadableNotebook, yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise CourseError(
            f"{listed.path} is not what Gradescope writes ({error}). Export the submissions again."
        ) from error
    for file in files:
        inner = file.path.removeprefix(root).split("/")
        if inner[0] in submissions and file.path.startswith(root):
            submissions[inner[0]].files["/".join(inner[1:]) or inner[0]] = file
    return _unpack(submissions.values())


class _Loader(yaml.SafeLoader):
    """Loads YAML that Ruby wrote; objects with the tag of a Ruby class become plain data."""


def _as_plain_data(loader: yaml.SafeLoader, kind: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("!", _as_plain_data)


def _utc(when: object) -> datetime | None:
    """Return a time from Gradescope's list in UTC, without a zone; None if the value is no time."""
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if not isinstance(when, datetime):
        return None
    return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)


def _set_file_times(submissions: Collection[DownloadedSubmission]) -> None:
    """Set each submission's time to the time of its newest file.

    Nothing is set if all times are within `AT_ONCE`, since they are then the time of the download:
    many versions of Moodle write this time into every file. So does Canvas, whose files' times are
    never used.
    """
    claimed = {
        id(submission): max(
            (file.when for file in submission.files.values() if file.when), default=None
        )
        for submission in submissions
        if submission.form != "canvas"
    }
    times = [when for when in claimed.values() if when is not None]
    if times and max(times) - min(times) > AT_ONCE:
        for submission in submissions:
            submission.when = claimed.get(id(submission))
            submission.clock = FILES if submission.when else ""


def _stem(name: str) -> str:
    """Return a notebook's name without its suffix; any other name as it is."""
    return SUFFIX.sub("", name)


def _is_notebook(name: str) -> bool:
    return _stem(name) != name
