"""Digits drawn by strokes, and the notebook in which a student's engine learns to read them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from extra_notebooks import COURSE, ExtraNotebook

from course import reader_weights
from course.digits import digits, pixels
from course.drawing.chart import pixel_drawing
from course.interactives.digit_reader import Reader
from course.interactives.model import YourCodeFailed

NOTEBOOK = ExtraNotebook("digits.ipynb")
CELLS, ANSWERS, run = NOTEBOOK.cells, NOTEBOOK.answers, NOTEBOOK.run
MLP = COURSE.assignment("mlp").exercises
CORE = ("module", "neuron", "layer", "mlp", "sgd")
# What a student brings along who did the core of the notebook before, and nothing extra.
CORE_NETWORK = {"own-network-line": "\n\n".join(MLP[name].solution for name in CORE)}


def test_all_digits_are_equally_frequent_and_depend_on_the_seed() -> None:
    pictures, labels = digits(40, seed=3)
    assert sorted(labels) == sorted([*range(10)] * 4) and labels != sorted(labels)
    assert all(len(picture) == 64 and 0 <= min(picture) < max(picture) <= 1 for picture in pictures)
    assert len({tuple(picture) for picture in pictures}) == 40
    assert digits(40, seed=3) == (pictures, labels) and digits(40, seed=4)[0] != pictures
    with pytest.raises(ValueError, match="at least one picture"):
        digits(0)


def test_the_weights_on_the_lesson_s_first_page_read_new_digits() -> None:
    text = reader_weights.SCRIPT.read_text("utf-8")
    first, second = (
        reader_weights.unpacked(re.search(f'{name}: "([^"]+)"', text)[1], inputs)
        for name, inputs in (("first", 64), ("second", reader_weights.HIDDEN))
    )
    pictures, labels = digits(300, seed=12345)
    read = [
        max(range(10), key=reader_weights.answers(first, second, picture)[1].__getitem__)
        for picture in pictures
    ]
    assert sum(map(int.__eq__, read, labels)) >= 290


@pytest.mark.full
def test_the_weights_on_the_lesson_s_first_page_are_the_trained_ones(tmp_path, monkeypatch) -> None:
    written = reader_weights.SCRIPT.read_text("utf-8")
    monkeypatch.setattr(reader_weights, "SCRIPT", tmp_path / "weights.js")
    reader_weights.main()
    assert (tmp_path / "weights.js").read_text("utf-8") == written


def test_a_drawn_digit_s_pixels_do_not_depend_on_its_size_and_position() -> None:
    small = [[[0.1, 0.1], [0.2, 0.1], [0.2, 0.3]]]
    large = [[[2 + 4 * x, 5 + 4 * y] for x, y in small[0]]]
    assert pixels(small) == pytest.approx(pixels(large), abs=0.002)
    assert pixels([]) == [0.0] * 64 and sum(pixels([[[0.5, 0.5]]])) > 0
    upright = pixels([[[0.5, 0.0], [0.5, 1.0]]])
    assert {place % 8 for place, ink in enumerate(upright) if ink} == {3, 4}


def sure_of(digit: int) -> Any:
    return lambda picture: [math.log(0.91 if each == digit else 0.01) for each in range(10)]


def test_a_drawn_digit_is_read_and_described() -> None:
    reader = Reader(sure_of(7))
    assert reader.summary() == "Nothing is drawn yet." and sum(reader.picture) == 0
    assert not reader.controls()[1].enabled
    reader.act("strokes", [[[0.2, 0.1], [0.8, 0.1], [0.4, 0.9]]])
    assert "It reads a 7, at 91%. Next comes a 0, at 1%." in reader.text()
    assert reader.news.startswith("It reads a 7, at 91%") and sum(reader.picture) > 5
    assert reader.slopes == [] and "○" not in reader.html()
    assert "8 by 8 pixels" in reader.html() and reader.controls()[1].enabled
    reader.act("clear", None)
    assert sum(reader.picture) == 0 and not reader.controls()[0].value


@pytest.mark.parametrize(
    "network", [lambda picture: 3.0, lambda picture: ["a"] * 10, lambda picture: [math.nan] * 10]
)
def test_a_network_without_ten_logits_is_reported(network: Any) -> None:
    with pytest.raises(YourCodeFailed, match="ten logits"):
        Reader(network)


def test_a_drawn_digit_shows_which_pixels_made_the_network_say_so() -> None:
    engine = run("given-engine")[0]["Value"]

    def network(picture: list[Any]) -> list[Any]:
        return [engine(0.0)] * 8 + [3 * picture[9] - picture[63] + 5, engine(0.0)]

    reader = Reader(network)
    reader.act("strokes", [[[0.2, 0.1], [0.8, 0.1], [0.4, 0.9]]])
    assert reader.summary().startswith("It reads an 8, at 9")
    assert reader.slopes == [0.0] * 9 + [3.0] + [0.0] * 53 + [-1.0]
    html = reader.html()
    assert "for it most at row 2, column 2, and against it most at row 8, column 8." in html
    assert html.count('<circle class="ch-dot ch-fill-0"') == 1
    assert html.count('<circle class="ch-line ch-1"') == 1 and "○ less sure" in html


def test_a_pixel_with_more_ink_is_darker() -> None:
    drawn = str(pixel_drawing([0.0, 0.5, 1.0, 0.0], "7", 8, "a 7"))
    assert re.findall(r'fill-opacity="([\d.]+)"', drawn) == ["0.50", "1.00"]


@pytest.mark.full
def test_the_digits_notebook_trains_a_network_with_its_own_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fewer = CELLS["data"].source.replace("digits(200,", "digits(130,")
    train = CELLS["train"].source.replace("range(4)", "range(2)").replace("[:100]", "[:10]")
    scope, printed = run("draw", data=fewer, train=train, **CORE_NETWORK)
    assert scope["accuracy"](scope["network"], scope["unseen"], scope["unseen_labels"]) > 0.6
    assert "drawn 9 " in printed and "Nothing is drawn yet." in printed
    scope["drawn"].act("strokes", [[[0.5, 0.0], [0.5, 1.0]]])
    exec(CELLS["keepsake-line"].source, scope)
    page = (tmp_path / "built_by_me.html").read_text("utf-8")
    read = scope["read"](scope["network"], scope["drawn"].picture)
    assert f"The one that I drew, it reads as a {read}." in page and f"mine: {read}" in page


def test_tasks_of_the_digits_notebook_are_stubs_and_its_checks_find_a_wrong_answer() -> None:
    assert list(ANSWERS) == ["accuracy", "epoch", "confusion", "pixels"]
    for name in ANSWERS:
        assert CELLS[name].source.count("raise NotImplementedError()") in (1, 2)
    assert not any(cell.get("outputs") or "nbgrader" in cell.metadata for cell in CELLS.values())
    with pytest.raises(AssertionError, match="the largest of these logits"):
        wrong = ANSWERS["accuracy"].replace("max(", "min(")
        run("accuracy-check", accuracy=wrong)
