"""Invented words, and the notebook in which a student's engine learns to write such words."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from extra_notebooks import ExtraNotebook

from course.drawing.chart import attention_drawing
from course.interactives.model import YourCodeFailed
from course.interactives.word_writer import Writer
from course.keepsake import keepsake
from course.words import VOWELS, keeps_rule, words

NOTEBOOK = ExtraNotebook("gpt.ipynb")
CELLS, ANSWERS, run = NOTEBOOK.cells, NOTEBOOK.answers, NOTEBOOK.run
SHORT = "train(2, batch=2)"


def test_words_keep_their_rule_and_depend_on_the_seed() -> None:
    made = words(200, seed=3)
    assert len(set(made)) == 200 and all(map(keeps_rule, made))
    assert words(200, seed=3) == made != words(200, seed=4)
    assert {len(word) for word in made} == {4, 5, 6, 7}
    for vowels in VOWELS:
        assert sum(set(word) & set(vowels) != set() for word in made) > 70
    assert not any(map(keeps_rule, ["", "taki", "ta", "tasot", "atas", "tasotaso", "tas"]))


def test_a_model_without_training_knows_nothing_and_a_step_of_training_helps() -> None:
    scope, printed = run("train", train=SHORT)
    assert "752 parameters" in printed and "15 tokens: ·aeiklmnoprstuv" in printed
    untrained = re.search(r"(\d\.\d+), and knowing nothing is 2\.71", printed)
    assert untrained and float(untrained[1]) == pytest.approx(math.log(15), abs=0.3)
    assert len(scope["losses"]) == 2
    before = scope["surprise"](scope["model"], "taso").data
    scope["train"](4, batch=2)
    assert len(scope["losses"]) == 4
    assert scope["surprise"](scope["model"], "taso").data < before


def test_training_goes_on_where_it_was_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    scope, _ = run("train", train=SHORT)
    step, steps = scope["optimizer"].step, scope["optimizer"].steps

    def interrupted() -> None:
        scope["optimizer"].step = step
        raise KeyboardInterrupt

    scope["optimizer"].step = interrupted
    scope["train"](3, batch=2)
    assert "stopped after 2 steps; train(3) goes on from here" in capsys.readouterr().out
    assert (len(scope["losses"]), scope["optimizer"].steps) == (2, steps)
    scope["train"](3, batch=2)
    assert len(scope["losses"]) == 3


@pytest.mark.full
def test_the_trained_model_writes_new_words_that_keep_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scope, printed = run("keepsake-line")
    assert 1.5 < sum(scope["losses"][-100:]) / 100 < 1.75
    fresh = scope["fresh"]
    assert len(fresh) > 25 and sum(map(keeps_rule, fresh)) > 0.8 * len(fresh)
    assert "step 400, " in printed
    dark, bright = (re.search(rf"{begun} a (\d+)%.* e (\d+)%", printed) for begun in ("kal", "kel"))
    assert dark and bright and int(dark[1]) > 20 > 5 > int(dark[2])
    assert int(bright[2]) > 30 > 5 > int(bright[1])
    page = (tmp_path / "built_by_me.html").read_text("utf-8")
    assert "2017 · Attention" in page and "words of its own" in page


def test_tasks_of_the_gpt_notebook_are_stubs_without_outputs() -> None:
    assert list(ANSWERS) == ["softmax", "attend", "adam"]
    for name in ANSWERS:
        assert CELLS[name].source.count("raise NotImplementedError()") == 1
    assert not any(cell.get("outputs") or "nbgrader" in cell.metadata for cell in CELLS.values())
    assert CELLS["given-engine"] == ExtraNotebook("digits.ipynb").cells["given-engine"]


@pytest.mark.parametrize(
    ("task", "right", "wrong"),
    [
        ("softmax", "(score - highest)", "score"),
        ("softmax", "sum(powers)", "max(p.data for p in powers)"),
        ("attend", " / math.sqrt(WIDTH)", ""),
        ("attend", "sum(w * value[i]", "sum(value[i]"),
        ("adam", " / (1 - 0.9**self.steps)", ""),
        ("adam", "p.data -=", "p.data +="),
        ("adam", "0.9 * self.mean[i] + 0.1 * p.grad", "p.grad"),
    ],
)
def test_a_check_of_the_gpt_notebook_finds_a_mistake(task: str, right: str, wrong: str) -> None:
    assert right in ANSWERS[task]
    with pytest.raises((AssertionError, OverflowError)) as found:
        run(f"{task}-check", **{task: ANSWERS[task].replace(right, wrong)})
    assert str(found.value)


class Alphabet:
    """A model that writes the letters in their order."""

    looks = ((1.0,), (0.25, 0.75))

    def __call__(self, numbers: list[int]) -> list[list[float]]:
        return [[9.0 * (k == (number + 1) % 4) for k in range(4)] for number in numbers]


def test_a_word_is_finished_from_what_was_typed() -> None:
    writer = Writer(Alphabet(), "·abc")
    writer.begin()
    assert writer.news.startswith("After nothing yet, most likely comes a at 100%, ")
    writer.act("temperature", 0.2)
    writer.act("beginning", "B!")
    assert writer.news == "It knows words of up to 7 of the letters a b c."
    assert writer.controls()[0].value == "b"
    writer.act("letter", None)
    assert writer.word == "bc" and writer.summary().startswith(
        "After bc, most likely comes the end"
    )
    assert "b<strong>c</strong>" in writer.html()
    writer.act("finish", None)
    writer.act("finish", None)
    assert writer.written == ["bc", "bc"] and writer.beginning == "b"
    assert writer.text() == "It writes bc.\nWritten: bc, bc"
    assert (
        "Where each letter of ·bc looks most: · at · with 100%, b at b with 75%." in writer.html()
    )


def test_a_higher_temperature_evens_out_the_chances() -> None:
    writer = Writer(lambda numbers: [[0.0, 1.0]], "·a")
    assert writer.chances[1] == pytest.approx(1 / (1 + math.exp(-1)))
    writer.act("temperature", 2.0)
    assert writer.chances[1] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert "Where each letter" not in writer.html()


@pytest.mark.parametrize("model", [lambda numbers: [[1.0]], lambda numbers: 1 / 0])
def test_a_model_without_a_logit_for_each_letter_is_reported(model: Any) -> None:
    with pytest.raises(YourCodeFailed, match=r"one for each letter|ZeroDivision"):
        Writer(model, "·ab")


def test_the_page_to_keep_holds_what_earlier_notebooks_put_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seven = [SimpleNamespace(data=float(digit == 7)) for digit in range(10)]
    first = keepsake(network=lambda picture: seven, namespace={})
    second = keepsake(writer=Writer(Alphabet(), "·abc"), namespace={})
    assert [bool(each.picture) for each in first.milestones] == [False, False, False, True, False]
    assert "2017 · Attention: My engine writes words of its own: abc." in repr(second)
    page = (tmp_path / "built_by_me.html").read_text("utf-8")
    assert re.findall(r'<section class="(\w+)"><h2>(\d+)', page) == [
        ("later", "1958"), ("later", "1969"), ("later", "1986"), ("run", "1989"), ("run", "2017"),
    ]  # fmt: skip
    assert "My network reads 10 of 100 digits" in page


def test_attention_is_drawn_with_its_weights_in_percent() -> None:
    drawn = str(attention_drawing("·t", [[1.0], [0.05, 0.95]]))
    assert re.findall(r"ch-small[^>]*>(\d+)<", drawn) == ["100", "95"]
    assert (
        'aria-label="Where each letter of ·t looks most: · at · with 100%, t at t with 95%."'
        in drawn
    )
