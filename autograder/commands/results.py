"""Commands before and after grading: bundle, class report, export of marks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..course_folder.assignments import find_course, parts_of
from ..errors import CourseError
from ..terminal import course_option, errors, for_people, print_json, say
from ..texts import visible

if TYPE_CHECKING:
    from ..pipeline.regrading import Regraded


@click.command()
@click.argument("assignments", nargs=-1, required=True, metavar="ASSIGNMENT...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put it, or each of several in a folder of its name; by default "
    "class_report/ASSIGNMENT in the course folder.",
)
@click.option("--hide-names", is_flag=True, help="Show numbers in place of students' names.")
@course_option
@for_people
def report(
    assignments: tuple[str, ...], output: Path | None, hide_names: bool, course: Path | None
) -> None:
    """Write the class report on each ASSIGNMENT: a page, and its tables as CSV."""
    from ..pages.class_report.page import write_report

    folder = find_course(course)
    for assignment in assignments:
        place = (output or folder / "class_report") / assignment
        if output and len(assignments) == 1:
            place = output
        for name in parts_of(folder, assignment):
            with errors.status("writing the class report"):
                page = write_report(folder, name, place / name.partition("/")[2], hide_names)
            say(page)


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
@for_people
def export(
    assignments: tuple[str, ...],
    form: str,
    output: Path | None,
    roster: Path | None,
    partial: bool,
    course: Path | None,
) -> None:
    """Write the marks of each ASSIGNMENT in a form that another program imports.

    Late penalties are taken off and marks given by hand are in. Ends with status 1 if some student
    or mark was left out.
    """
    from ..pages.marks_export import export_marks

    made = export_marks(find_course(course), assignments, form, roster, partial)
    if output is None:
        click.echo(made.text, nl=False)
    else:
        output.write_text(made.text, "utf-8", newline="")
        say(f"{output} is written", to=errors)
    for note in made.notes:
        say(visible(note), "yellow", errors)
    sys.exit(1 if made.notes else 0)


@click.command()
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put what is made; by default artefacts/bundle, artefacts/browser, "
    "artefacts/self-study or artefacts/solutions in the course folder.",
)
@click.option(
    "--browser", is_flag=True, help="Make a static site instead, on which notebooks run by itself."
)
@click.option(
    "--solutions",
    is_flag=True,
    help="Make the pages with solution and discussion instead, to give out after the due date.",
)
@click.option(
    "--self-study",
    is_flag=True,
    help="For people who learn alone, never for a class: with solutions and right answers.",
)
@click.option("--repository", metavar="URL", help="A Git repository that will hold the bundle.")
@click.option("--branch", default="main", show_default=True, help="The repository's branch.")
@click.option("--hub", metavar="URL", help="A hub with nbgitpuller: prints the link for students.")
@course_option
@for_people
def publish(
    assignments: tuple[str, ...],
    output: Path | None,
    browser: bool,
    solutions: bool,
    self_study: bool,
    repository: str | None,
    branch: str,
    hub: str | None,
    course: Path | None,
) -> None:
    """Make the bundle that students get: release notebooks, the course's wheel, a start page.

    With --browser, make a static site of the same, on which the notebooks run in a browser tab.
    With --solutions, write for each ASSIGNMENT a page to read when it is over: the solved notebook,
    and below each exercise what often goes wrong, with the reason for each wrong option of a quiz.
    With --self-study, the bundle or the site has these pages in it, and the checks of a quiz say
    what is right.
    Without ASSIGNMENT, with all that are released, in the order of their names.
    """
    from ..delivery.bundle.make import nbgitpuller_link, publish

    if (repository is None) != (hub is None):
        raise CourseError("a link needs both --repository and --hub")
    if solutions:
        if self_study or browser:
            raise CourseError("--solutions makes the pages alone: leave out the other option")
        _publish_solutions(find_course(course), assignments, output)
        return
    if browser:
        if hub:
            raise CourseError("a site in the browser needs no hub: leave out --hub or --browser")
        _publish_browser(find_course(course), assignments, output, self_study)
        return
    link = nbgitpuller_link(hub, repository, branch, assignments) if hub and repository else None
    folder = find_course(course)
    with errors.status("building the bundle"):
        made = publish(
            folder, assignments, output or folder / "artefacts" / "bundle", link, self_study
        )
    for line in (str(made.folder), str(made.archive), link):
        if line:
            say(line)


def _publish_solutions(course: Path, assignments: tuple[str, ...], output: Path | None) -> None:
    from ..pages.solutions.page import write_solution_pages

    if not assignments:
        raise CourseError("name the assignments that are over: their answers become public")
    folder = output or course / "artefacts" / "solutions"
    for path in write_solution_pages(course, [*assignments], folder):
        say(path)


def _publish_browser(
    course: Path, assignments: tuple[str, ...], output: Path | None, self_study: bool
) -> None:
    from ..delivery.browser.site import publish_browser

    folder = output or course / "artefacts" / ("self-study" if self_study else "browser")
    with errors.status("building the site"):
        made = publish_browser(course, assignments, folder, self_study)
    say(made.folder)
    if made.left_out:
        say(
            f"left out, since the package index has no wheel of them that is Python alone: "
            f"{', '.join(made.left_out)}. In the browser, what imports them stops.",
            "yellow",
            errors,
        )


@click.command()
@click.argument("system", type=click.Choice(["gradescope"]))
@click.argument("assignment")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The zip to write; by default artefacts/gradescope/ASSIGNMENT.zip in the course folder.",
)
@click.option(
    "--visibility",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="visible",
    show_default=True,
    help="When students see which exercises are right, in Gradescope's words.",
)
@course_option
@for_people
def package(
    system: str, assignment: str, output: Path | None, visibility: str, course: Path | None
) -> None:
    """Make the files by which another SYSTEM grades ASSIGNMENT: Gradescope's autograder zip.

    It holds the hidden tests and the key: upload it, and keep it secret.
    """
    from ..delivery import gradescope

    folder = find_course(course)
    target = output or folder / "artefacts" / system / f"{assignment}.zip"
    with errors.status("making the zip"):
        made = gradescope.package(folder, assignment, target, visibility)
    say(made)


def print_regraded(found: list[Regraded], as_json: bool) -> None:
    """Print whose marks change and why, then how many do not."""
    if as_json:
        for each in found:
            print_json(each.as_json())
        return
    changed = [each for each in found if each.changes]
    for each in sorted(found, key=lambda each: (each.before.assignment, each.before.student)):
        who = visible(f"{each.before.student}, {each.before.assignment}")
        if each.left_alone:
            say(f"{who}: left alone: {visible(each.left_alone)}")
        elif each.changes:
            say("\n".join(_lines(each, who)))
    students = len({each.before.student for each in changed})
    say(f"{len(found)} graded before, {len(changed)} with other points now ({students} students)")


def _lines(each: Regraded, who: str) -> list[str]:
    before, now = each.marks
    lines = [f"{who}: {before:g} → {now:g}, since {'; '.join(each.reasons)}"]
    for change in each.changes:
        old, new = ("—" if points is None else f"{points:g}" for points in change.points)
        stays = each.by_hand.get(change.exercise)
        given = "" if stays is None else f" (the {stays:g} given by hand stay)"
        lines.append(f"  {change.exercise}: {old} → {new}{given}")
        lines += [f"    {why}" for why in change.why]
    return lines


COMMANDS = (report, export, publish, package)
