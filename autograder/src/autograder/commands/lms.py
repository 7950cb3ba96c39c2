"""Commands that exchange submissions and marks with a learning management system."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import click

from ..course_folder.course import Course
from ..errors import CourseError
from ..terminal import course_option, echo, errors, print_json, report_errors
from ..texts import visible

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LOOKS = {
    "new": "green", "newer": "green", "same": "dim", "left out": "dim",
    "sent": "green", "sent before": "dim", "would be sent": "default",
}  # fmt: skip


@click.command("import")
@click.argument("assignment")
@click.argument("download", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "form",
    type=click.Choice(
        ["moodle", "blackboard", "brightspace", "ilias", "sakai", "canvas", "gradescope", "plain"]
    ),
    help="Which system's it is; by default recognised by the names of the files.",
)
@click.option("--mapping", type=_FILE, help="A CSV that says whose files are: file, student.")
@click.option("--worksheet", type=_FILE, help="Moodle's grading worksheet: who is which number.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be done.")
@click.option(
    "--unmatched",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a mapping to fill in, of what could not be matched.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a submission.")
@course_option
@report_errors
def import_(
    assignment: str,
    download: Path,
    form: str | None,
    mapping: Path | None,
    worksheet: Path | None,
    dry_run: bool,
    unmatched: Path | None,
    as_json: bool,
    course: Course,
) -> None:
    """Take DOWNLOAD, a zip or folder with submissions to ASSIGNMENT, into submitted/.

    Moodle's and Canvas's bulk downloads, Gradescope's export and any folder of notebooks are
    recognised by the names of their files. Students are those of the gradebook. Ends with status 1
    if a file needs a look: it is left in the download then, and the rest is imported all the same.
    """
    from ..lms.importing import DONE, UNMATCHED, import_download, summarize_times
    from ..pages.csv_cells import csv_text

    found = import_download(course, assignment, download, form, mapping, worksheet, dry_run)
    for each in found:
        if as_json:
            print_json(vars(each))
            continue
        who = f" → {visible(each.student)}" if each.student else ""
        late = ", late" if each.late else ""
        text = f"{each.state}: {each.place}{who}{late}" + (
            f": {each.detail}" if each.detail else ""
        )
        echo(text, _LOOKS.get(each.state, "yellow"))
    if unmatched is not None:
        rows = [(each.place, each.student) for each in found if each.state == UNMATCHED]
        unmatched.write_text(csv_text([("file", "student"), *rows]), "utf-8", newline="")
    times, warning = summarize_times(found)
    if warning:
        echo(f"autograder: {warning}", "yellow", errors)
    if not as_json:
        echo(times, to=errors)
        counted = Counter(each.state for each in found)
        summary = ", ".join(f"{number} {state}" for state, number in counted.items())
        echo(f"{'would be ' if dry_run else ''}{summary}", to=errors)
    sys.exit(any(each.state not in DONE for each in found))


@click.command()
@click.argument("assignment")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the zips; by default imported/ASSIGNMENT in the course folder.",
)
@course_option
@report_errors
def feedback(assignment: str, output: Path | None, course: Course) -> None:
    """Make the feedback pages of ASSIGNMENT, as zips that Moodle and Canvas hand out.

    Each page has the name by which the system finds its student. Only submissions that
    `autograder import` took in have pages. Ends with status 1 if a page is missing.
    """
    from ..lms.feedback_out import export_feedback
    from ..lms.importing import FOLDER

    with errors.status("writing feedback pages"):
        made = export_feedback(course, assignment, output or course.root / FOLDER / assignment)
    for path, number in made.zips.items():
        echo(f"{path}: {number} pages")
    for note in made.notes:
        echo(visible(note), "yellow", errors)
    sys.exit(bool(made.notes))


@click.command()
@click.argument("assignments", nargs=-1, required=True, metavar="ASSIGNMENT...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["canvas", "moodle", "csv", "exercises"]),
    default="csv",
    show_default=True,
    help="Which program is to read it.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; by default it is printed.",
)
@click.option(
    "--roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A class list as Canvas or Moodle exports it, to take ids and e-mail addresses from.",
)
@click.option(
    "--partial", is_flag=True, help="Write the part that is known where a person has to mark more."
)
@course_option
@report_errors
def export(
    assignments: tuple[str, ...],
    form: str,
    output: Path | None,
    roster: Path | None,
    partial: bool,
    course: Course,
) -> None:
    """Write the marks of each ASSIGNMENT in a form that another program imports.

    Late penalties are taken off and marks given by hand are in. Ends with status 1 if some student
    or mark was left out.
    """
    from ..lms.export import export_marks

    made = export_marks(course, assignments, form, roster, partial)
    if output is None:
        click.echo(made.text, nl=False)
    else:
        output.write_text(made.text, "utf-8", newline="")
        echo(f"{output} is written", to=errors)
    for note in made.notes:
        echo(visible(note), "yellow", errors)
    sys.exit(1 if made.notes else 0)


@click.command()
@click.argument("assignment")
@click.option(
    "--to",
    "system",
    type=click.Choice(["canvas", "lti"]),
    required=True,
    help="Canvas by its API, or any platform by LTI 1.3.",
)
@click.option("--url", help="Canvas: its address, such as https://canvas.example.org.")
@click.option("--there", metavar="COURSE/ASSIGNMENT", help="Canvas: the numbers of both.")
@click.option("--settings", type=_FILE, help="LTI: the file with the platform's addresses.")
@click.option("--keys", is_flag=True, help="LTI: print the key set to register there, and end.")
@click.option("--yes", is_flag=True, help="Send. Without it, only say what would be sent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a student.")
@course_option
@report_errors
def send(
    assignment: str,
    system: str,
    url: str | None,
    there: str | None,
    settings: Path | None,
    keys: bool,
    yes: bool,
    as_json: bool,
    course: Course,
) -> None:
    """Send the marks of ASSIGNMENT to a learning management system, late penalties taken off.

    A student is recognised by the lms_user_id in the gradebook. A mark that was sent before and has
    not changed is left alone, so a command that was stopped goes on. Ends with status 1 if some
    mark was not sent.
    """
    from ..lms.platforms import Canvas, LtiPlatform
    from ..lms.sending import DONE, Platform, send_marks

    def platform(max_points: float) -> Platform:
        if system == "lti":
            if settings is None:
                raise CourseError("--to lti needs --settings FILE")
            return LtiPlatform(settings, assignment, max_points)
        if url is None or there is None or not re.fullmatch(r"\d+/\d+", there, re.ASCII):
            raise CourseError("--to canvas needs --url ADDRESS and --there COURSE/ASSIGNMENT")
        return Canvas(url, there, max_points)

    if keys:
        print_json(getattr(platform(1.0), "keys", {}), indent=1)
        return
    counted: Counter[str] = Counter()
    is_done = True
    for each in send_marks(course, assignment, platform, yes):
        counted[each.state] += 1
        is_done &= each.state in DONE
        if as_json:
            print_json(vars(each))
            continue
        points = "" if each.points is None else f": {each.points:g}"
        text = f"{each.state}: {each.student}{points}" + (
            f" ({each.detail})" if each.detail else ""
        )
        echo(visible(text), _LOOKS.get(each.state, "yellow"))
    if not as_json:
        summary = ", ".join(f"{number} {state}" for state, number in counted.items())
        echo(summary or "nobody submitted anything", to=errors)
    sys.exit(not is_done)


COMMANDS = (import_, feedback, export, send)
