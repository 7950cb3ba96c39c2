"""Commands that make what students get: bundle, browser edition, lesson, another system's files."""

from __future__ import annotations

from pathlib import Path

import click

from ..course_folder.course import Course
from ..errors import CourseError
from ..terminal import course_option, echo, errors, report_errors


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
@report_errors
def publish(
    assignments: tuple[str, ...],
    output: Path | None,
    browser: bool,
    solutions: bool,
    self_study: bool,
    repository: str | None,
    branch: str,
    hub: str | None,
    course: Course,
) -> None:
    """Make the bundle that students get: release notebooks, the course's wheel, a start page.

    With --browser, make a static site of the same, on which the notebooks run in a browser tab.
    With --solutions, write for each ASSIGNMENT a page to read when it is over: the solved notebook,
    and below each exercise what often goes wrong, with the reason for each wrong option of a quiz.
    With --self-study, the bundle or the site has these pages in it, and the checks of a quiz say
    what is right.
    Without ASSIGNMENT, with all that are released, in the order of their names.
    """
    from ..publishing.bundle.make import nbgitpuller_link, publish

    if (repository is None) != (hub is None):
        raise CourseError("a link needs both --repository and --hub")
    if solutions:
        if self_study or browser:
            raise CourseError("--solutions makes the pages alone: leave out the other option")
        _publish_solutions(course, assignments, output)
        return
    if browser:
        if hub:
            raise CourseError("a site in the browser needs no hub: leave out --hub or --browser")
        _publish_browser(course, assignments, output, self_study)
        return
    link = nbgitpuller_link(hub, repository, branch, assignments) if hub and repository else None
    with errors.status("building the bundle"):
        made = publish(
            course, assignments, output or course.root / "artefacts" / "bundle", link, self_study
        )
    for line in (str(made.folder), str(made.archive), link):
        if line:
            echo(line)


def _publish_solutions(course: Course, assignments: tuple[str, ...], output: Path | None) -> None:
    from ..pages.solutions.page import write_solution_pages

    if not assignments:
        raise CourseError("name the assignments that are over: their answers become public")
    folder = output or course.root / "artefacts" / "solutions"
    for path in write_solution_pages(course, [*assignments], folder):
        echo(path)


def _publish_browser(
    course: Course, assignments: tuple[str, ...], output: Path | None, self_study: bool
) -> None:
    from ..publishing.browser.site import publish_browser

    folder = output or course.root / "artefacts" / ("self-study" if self_study else "browser")
    with errors.status("building the site"):
        made = publish_browser(course, assignments, folder, self_study)
    echo(made.folder)
    if made.left_out:
        echo(
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
@report_errors
def package(
    system: str, assignment: str, output: Path | None, visibility: str, course: Course
) -> None:
    """Make the files by which another SYSTEM grades ASSIGNMENT: Gradescope's autograder zip.

    It holds the hidden tests and the key: upload it, and keep it secret.
    """
    from ..publishing import gradescope

    target = output or course.root / "artefacts" / system / f"{assignment}.zip"
    with errors.status("making the zip"):
        made = gradescope.package(course, assignment, target, visibility)
    echo(made)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT...]")
@course_option
@report_errors
def lesson(folder: Path, assignments: tuple[str, ...], course: Course) -> None:
    """Write the lesson and the slides into FOLDER, as pages for the browser.

    Assignments that are named have their notebooks beside FOLDER, and the pages lead to them.
    """
    from ..publishing.lesson.site import build

    pages = build(course, folder, assignments)
    echo(f"{len(pages)} pages; begin with {pages[0]}")


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the notebooks; by default artefacts/lab in the course folder.",
)
@course_option
@report_errors
def lab(folder: Path | None, course: Course) -> None:
    """Copy all that students get into a folder, to try it in JupyterLab.

    Work there is kept: a newer file replaces an unchanged one, and stands beside a changed one.
    """
    from ..publishing.lab import update_lab

    target = folder or course.root / "artefacts" / "lab"
    for path in update_lab(course, target):
        echo(f"{path} is newer than what you work on, which stays beside it", "yellow")
    echo(target)


COMMANDS = (publish, package, lesson, lab)
