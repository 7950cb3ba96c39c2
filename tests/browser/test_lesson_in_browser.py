"""The lesson and the slides, opened from a folder in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from looking import assert_accessible
from playwright.sync_api import Locator, Page, expect
from tested_course import COURSE

from course.datasets import xor
from reference import Value

PAGES = sorted(path.stem for path in (COURSE.root / "course" / "lesson").glob("*.md"))
DECKS = sorted(path.stem for path in (COURSE.root / "course" / "slides").glob("*.md"))
SOME = {"index", "04-backward", "08-training", DECKS[0]}
"""Pages that each run looks at: the others are made by the same two templates."""
PHONE = {"width": 360, "height": 740}
PROJECTOR = {"width": 1280, "height": 720}
TEXT_SIZES = (
    """all => all.map((it) => it.getScreenCTM().a * parseFloat(getComputedStyle(it).fontSize))"""
)
TOO_WIDE = "all => all.filter(it => it.scrollWidth > it.clientWidth + 1).length"


@pytest.fixture(scope="module")
def folder(lesson: Path) -> Path:
    return lesson


@pytest.fixture
def opened(page: Page, folder: Path) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens a page of the folder. The test fails if a request leaves the
    folder."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def go(name: str) -> Page:
        page.goto((folder / name).as_uri())
        return page

    yield go
    strays = [url for url in asked if not url.startswith(folder.as_uri())]
    assert asked and not strays


def each(names: list[str]) -> list[Any]:
    """Return the names as parameters of a test; those outside `SOME` run in campaigns alone."""
    return [
        name if name in SOME else pytest.param(name, marks=pytest.mark.campaign) for name in names
    ]


@pytest.mark.parametrize("name", each(PAGES))
def test_each_lesson_page_is_accessible_in_light_and_dark_and_fits_a_phone(
    opened, page, name
) -> None:
    opened(f"{name}.html")
    expect(page.locator("h1")).to_be_visible()
    page.locator("main details").evaluate_all("all => all.forEach(it => it.open = true)")
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, runOnly=["color-contrast"])
    page.set_viewport_size(PHONE)
    assert_accessible(page, runOnly=["scrollable-region-focusable", "target-size"])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(".formula").evaluate_all(TOO_WIDE) == 0


def test_lesson_pages_can_be_read_one_after_another_by_keyboard(opened, page, folder) -> None:
    opened("index.html")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    visited = ["index"]
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith((f"{visited[-1]}.html", "#text")))
        visited.append(Path(page.url).stem)
        expect(page.locator("nav [aria-current=page]")).to_have_attribute(
            "href", f"{visited[-1]}.html"
        )
    assert sorted(visited) == PAGES


def test_a_printed_lesson_page_shows_the_answers_to_its_questions(opened, page) -> None:
    opened("01-why-gradients.html")
    answer = page.locator(".answer p").first
    expect(answer).to_be_hidden()
    page.emulate_media(media="print")
    expect(answer).to_be_visible()
    expect(page.locator("nav")).to_be_hidden()


def test_questions_of_the_lesson_answer_what_is_typed_or_chosen(opened, page) -> None:
    opened("03-chain-rule.html")
    typed, chosen = page.locator(".asked").all()
    reason = typed.get_by_text("The local derivative for one operand")
    expect(reason).to_be_hidden()
    typed.get_by_role("textbox").fill("ten")
    page.keyboard.press("Enter")
    expect(typed.get_by_role("status")).to_contain_text("Type a number")
    typed.get_by_role("textbox").fill("10")
    page.keyboard.press("Enter")
    expect(typed.get_by_role("status")).to_have_text("You said 10; it is -10.")
    expect(reason).to_be_visible()
    chosen.get_by_role("button", name="the output is at hand").click()
    expect(chosen.get_by_role("status")).to_contain_text("and that is right")


def shown(page: Page) -> Locator:
    return page.locator(".slide:visible")


@pytest.mark.parametrize("name", each(DECKS))
def test_slides_move_by_keyboard(opened, page, name, picture) -> None:
    opened(f"slides/{name}.html")
    last = str(page.locator(".slide").count())
    expect(shown(page)).to_have_id("1")
    for key, number in (
        ("ArrowRight", "2"), ("ArrowDown", "3"), ("PageDown", "4"), (" ", "5"),
        ("ArrowLeft", "4"), ("ArrowUp", "3"), ("PageUp", "2"),
        ("End", last), ("ArrowRight", last), ("Home", "1"), ("ArrowLeft", "1"),
    ):  # fmt: skip
        page.keyboard.press(key)
        while shown(page).get_attribute("id") != number:  # a stepper takes its steps first
            page.keyboard.press(key)
        expect(shown(page)).to_be_focused()
        assert page.url.endswith(f"#{number}")
    page.keyboard.press("End")
    page.reload()
    expect(shown(page)).to_have_id(last)


def test_each_key_takes_a_step_of_the_stepper_before_the_slide_turns(opened, page) -> None:
    opened("slides/1-graph.html")
    number = page.locator(".slide", has=page.locator("text=Each key is a step")).get_attribute("id")
    assert number is not None
    page.evaluate(f"location.hash = {number}")
    says = shown(page).locator(".says")
    for step in range(2, 11):
        page.keyboard.press("ArrowRight")
        expect(says).to_contain_text(f"Step {step} of 10")
        box, marked = (
            shown(page).locator(it).bounding_box() for it in (".frame .cg-box", ".frame .cg-mark")
        )
        assert box and marked and box["x"] - 1 <= marked["x"]
        assert marked["x"] + marked["width"] <= box["x"] + box["width"] + 1
    expect(says).to_contain_text("w goes from 0 to -36")
    page.keyboard.press("ArrowLeft")
    expect(says).to_contain_text("Step 9 of 10")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(shown(page)).to_have_id(str(int(number) + 1))


def test_slides_move_by_a_swipe(opened, page) -> None:
    opened(f"slides/{DECKS[0]}.html")
    for start, end, number in ((300, 100, "2"), (300, 290, "2"), (300, 100, "3"), (100, 300, "2")):
        for kind, x in (("pointerdown", start), ("pointerup", end)):
            how = {"pointerType": "touch", "clientX": x, "clientY": 300, "bubbles": True}
            shown(page).dispatch_event(kind, how)
        expect(shown(page)).to_have_id(number)


def test_slides_show_an_overview_and_the_speaker_s_notes(opened, page, picture) -> None:
    deck = DECKS[0]
    opened(f"slides/{deck}.html")
    count = page.locator(".slide").count()
    page.keyboard.press("n")
    expect(page.locator(".notes").first).to_be_visible()
    expect(page.get_by_role("button", name="Notes")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    expect(page.locator(".notes").first).to_be_hidden()

    page.keyboard.press("o")
    expect(shown(page)).to_have_count(count)
    assert_accessible(page)
    picture("overview")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(shown(page)).to_have_id("2")
    page.get_by_role("button", name="Overview").click()
    page.locator(".slide").nth(4).click()
    expect(shown(page)).to_have_id("5")
    page.get_by_role("button", name="Back").click()
    expect(shown(page)).to_have_id("4")


@pytest.mark.parametrize("name", each(DECKS))
def test_slides_are_accessible_in_light_and_dark(opened, page, name) -> None:
    opened(f"slides/{name}.html")
    assert_accessible(page)
    # All of them at once, one below the other.
    page.locator("body").evaluate("it => it.classList.remove('shown')")
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, runOnly=["color-contrast"])


@pytest.mark.parametrize("name", each(DECKS))
def test_every_slide_fits_the_projector(opened, page, name) -> None:
    page.set_viewport_size(PROJECTOR)
    opened(f"slides/{name}.html")
    for number in range(1, page.locator(".slide").count() + 1):
        expect(shown(page)).to_have_id(str(number))
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= PROJECTOR["height"], f"slide {number} is {height} pixels high"
        boxes = shown(page).locator("pre, .wide, .formula, .drawing .cg-box")
        assert boxes.evaluate_all(TOO_WIDE) == 0
        sizes = shown(page).locator(".cg text:visible").evaluate_all(TEXT_SIZES)
        assert min(sizes, default=24) > 23.9
        page.evaluate(f"location.hash = {number + 1}")


@pytest.mark.parametrize("name", each(DECKS))
def test_each_slide_prints_on_a_sheet_of_its_own(opened, page, name) -> None:
    opened(f"slides/{name}.html")
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert len(sheets) == page.locator(".slide").count()


def test_slides_can_be_read_without_scripts(browser, folder) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "slides" / f"{DECKS[0]}.html").as_uri())
    expect(shown(page)).to_have_count(page.locator(".slide").count())
    expect(page.locator(".notes").first).to_be_visible()
    expect(page.locator("nav button").first).to_be_hidden()
    context.close()


# Moving parts of the pages.


def test_the_first_page_reads_a_digit_asks_its_weights_and_learns_from_one(opened, page) -> None:
    opened("index.html")
    reader = page.get_by_role("group", name="A network that reads what you draw")
    says = reader.locator(".says")
    expect(says).to_contain_text(re.compile("It reads an? [0-9], at "))
    reader.get_by_role("button", name="Clear").click()
    expect(says).to_have_text("Draw a digit here.")
    pad = reader.get_by_role("application")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    corners = [(0.3, 0.2), (0.7, 0.2), (0.5, 0.5), (0.45, 0.85)]
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=6)
    page.mouse.up()
    expect(says).to_contain_text("It reads a 7")
    reader.get_by_role("button", name="Ask each weight").click()
    expect(says).to_contain_text("All 1,510 weights have answered")
    glows = reader.locator(".seen rect.answered").evaluate_all(
        "all => all.map(it => it.getAttribute('opacity'))"
    )
    assert max(map(float, glows)) == 1
    for _ in range(8):
        reader.get_by_role("button", name="Teach it that this is a 1").click()
    expect(says).to_contain_text("It reads a 1.")


def test_a_digit_can_be_drawn_by_keyboard(opened, page) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened("index.html")
    reader = page.get_by_role("group", name="A network that reads what you draw")
    reader.get_by_role("button", name="Clear").press("Enter")
    reader.get_by_role("application").focus()
    for key in ["ArrowUp"] * 6 + [" "] + ["ArrowDown"] * 12 + [" "]:
        page.keyboard.press(key)
    expect(reader.locator(".says")).to_contain_text("It reads a 1")


FORMULAS = [
    ("(a * b + c) ** 2", lambda a, b, c: (a * b + c) ** 2),
    ("a - b - c / a", lambda a, b, c: a - b - c / a),
    ("-a ** 2 + 2 * b", lambda a, b: -(a**2) + 2 * b),
    ("tanh(a * b) * sigmoid(a) + a", lambda a, b: (a * b).tanh() * a.sigmoid() + a),
    ("exp(a) / log(b + 3) - relu(-a)", lambda a, b: a.exp() / (b + 3).log() - (-a).relu()),
    ("a ^ -2 * (a + a)", lambda a: a**-2 * (a + a)),
    ("s = a + b; t = s * 10; s + t", lambda a, b: (a + b) + (a + b) * 10),
]


def reference(function: Callable[..., Value], *numbers: float) -> list[float]:
    """Return the value of an expression, and the gradient of each input."""
    values = [Value(number) for number in numbers]
    root = function(*values)
    root.backward()
    return [root.data, *(value.grad for value in values)]


@pytest.mark.parametrize(("formula", "function"), FORMULAS, ids=[text for text, _ in FORMULAS])
def test_the_javascript_engine_gives_the_numbers_and_gradients_of_the_reference(
    opened, page, formula, function
) -> None:
    opened("index.html")
    engine = (COURSE.root / "course/scripts/1-engine.js").read_text("utf-8")
    numbers = [0.7, 1.3, -2.1][: function.__code__.co_argcount]
    got = page.evaluate(
        f"""([formula, numbers]) => {{
            {engine}
            const {{ names, compute }} = read(formula);
            const inputs = numbers.map((number) => new Value(number));
            const values = Object.fromEntries(names.sort().map((name, i) => [name, inputs[i]]));
            const root = compute(values);
            root.backward();
            return [root.data, ...inputs.map((input) => input.grad)];
        }}""",
        [formula, numbers],
    )
    assert got == pytest.approx(reference(function, *numbers), rel=1e-12)


def numbers_of(page: Page, *names: str) -> list[float]:
    """Return the gradients in the drawing's description, by name."""
    about = page.locator(".frame svg.cg").get_attribute("aria-label") or ""
    return [
        float(re.search(rf"[ ;]{name}: data \S+, grad (\S+?)(;|$)", about)[1]) for name in names
    ]


def neuron(x1: Value, w1: Value, x2: Value, w2: Value, b: Value) -> Value:
    return (x1 * w1 + x2 * w2 + b).tanh()


def test_the_stepper_on_a_lesson_page_works_by_keyboard(opened, page, picture) -> None:
    opened("04-backward.html")
    said = page.locator(".frame:not(.asked) .unseen")
    page.get_by_role("button", name="First").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_have_text("Step 2 of 12, forward. v1 is x1 · w1, and that gives -6.")
    expect(page.locator(".frame svg.cg")).to_have_attribute("aria-label", re.compile("data \\?"))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(said).to_contain_text("Step 12 of 12, backward.")
    picture("neuron")
    start = [2.0, -3.0, 0.0, 1.0, 6.8813735870195432]
    names = ("x1", "w1", "x2", "w2", "b")
    expected = reference(neuron, *start)[1:]
    assert numbers_of(page, *names) == pytest.approx(expected, rel=1e-3, abs=1e-9)
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider", name="x1")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("x1 is 2.1. Step 12 of 12")
    expected = reference(neuron, 2.1, *start[1:])[1:]
    assert numbers_of(page, *names) == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("width", [360, 1280])
def test_each_step_on_a_lesson_page_is_scrolled_into_sight(opened, page, width) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    opened("04-backward.html")
    scrolled = set()
    for _ in range(11):
        page.get_by_role("button", name="Next").click()
        box, marked = (
            page.locator(it).bounding_box() for it in (".frame .cg-box", ".frame .cg-mark")
        )
        assert box and marked
        assert box["x"] - 1 <= marked["x"]
        assert marked["x"] + marked["width"] <= box["x"] + box["width"] + 1
        assert box["y"] <= marked["y"] + 4
        assert marked["y"] + marked["height"] <= box["y"] + box["height"] + 4
        scrolled.add(page.locator(".frame .cg-box").evaluate("it => it.scrollLeft"))
    assert len(scrolled) > 1


def test_a_value_chosen_on_a_lesson_page_stays_chosen_while_a_number_moves(opened, page) -> None:
    opened("03-chain-rule.html")
    line = page.locator(".frame .cg-below p").first
    page.locator(".frame [data-node]").first.click()
    expect(line).to_have_text(
        "From a to result, one path: (-3) × 1 × 8 = -24, and the gradient says -24."
    )
    page.get_by_role("slider", name="c", exact=True).press("ArrowLeft")
    expect(line).to_contain_text("(-3) × 1 × 7.8 = -23.4, and the gradient says -23.4.")


def test_a_formula_can_be_typed_on_a_lesson_page_by_keyboard(opened, page, picture) -> None:
    opened("03-chain-rule.html")
    said = page.locator(".frame:not(.asked) .unseen")
    field = page.get_by_role("textbox", name="Formula")
    assert numbers_of(page, "a", "b", "c") == [-24.0, 16.0, 8.0]
    field.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("tanh(a * b) + a")
    expected = reference(lambda a, b: (a * b).tanh() + a, 2.0, -3.0)[1:]
    assert numbers_of(page, "a", "b") == pytest.approx(expected, rel=1e-3)
    page.keyboard.type(" +")
    expect(said).to_have_text(re.compile("the formula ends too early"))
    expect(field).to_have_attribute("aria-invalid", "true")
    assert_accessible(page)
    page.keyboard.type(" c ** 2")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(said).to_have_text("The gradients are left out.")
    expect(page.locator(".frame svg.cg")).not_to_contain_text("grad")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("a is 2.1: the result went from ")
    expect(said).to_contain_text("Its gradient had promised about 0.9999 · 0.1 = 0.09999.")
    picture("formula")
    field.fill("<img src=x onerror=alert(1)>")
    expect(said).to_contain_text("was not expected")
    assert page.locator(".frame img").count() == 0


def test_the_training_interactive_on_a_lesson_page_works_by_keyboard(opened, page, picture) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened("08-training.html")
    said = page.locator(".frame:not(.asked) .unseen")
    drawn = page.locator('svg[aria-label^="Network 2 to 4 to 1"]').get_attribute("aria-label") or ""
    rows = [[float(w) for w in re.findall(r"-?\d\.\d\d", part)] for part in drawn.split(";")]

    def answer(x: list[float]) -> Value:
        hidden = [
            (rows[0][2 * i] * x[0] + Value(rows[0][2 * i + 1]) * x[1]).tanh() for i in range(4)
        ]
        return sum((w * h for w, h in zip(rows[1], hidden, strict=True)), Value(0.0)).tanh()

    inputs, targets = xor()
    loss = (
        sum((answer(x).data - (2 * t - 1)) ** 2 for x, t in zip(inputs, targets, strict=True)) / 4
    )
    page.get_by_role("button", name="Step").focus()
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Epoch 1, loss ")
    shown = float(re.search(r"loss (\S+),", said.inner_text())[1])
    assert shown == pytest.approx(loss, abs=0.03)  # the weights are printed to two digits
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    learnt = re.compile(r"Stopped\. Epoch \d+, loss 0\.00\d+, 4 of 4 right\.")
    expect(said).to_have_text(learnt, timeout=300_000)
    picture("learnt")
    page.get_by_label("Data").focus()
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("A new network, moons, 4 hidden units")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(said).to_contain_text("no hidden units")
    expect(page.locator('svg[aria-label^="Network 2 to 1"]')).to_be_visible()


def test_arrow_keys_move_a_focused_slider_and_not_the_slide(opened, page) -> None:
    opened("slides/2-backward.html")
    place = page.locator(".slide", has=page.locator("[data-interactive]"))
    number = place.get_attribute("id")
    page.goto(page.url.partition("#")[0] + f"#{number}")
    page.get_by_role("slider", name="x").focus()
    page.keyboard.press("ArrowRight")
    expect(place.locator(".unseen")).to_contain_text("x is 2.1.")
    expect(shown(page)).to_have_id(number)


def test_an_interactive_is_text_without_scripts_and_in_print(browser, folder, page) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((folder / "04-backward.html").as_uri())
    expect(plain.locator("div[data-interactive]")).to_contain_text("x1 gets -1.5")
    context.close()
    page.goto((folder / "04-backward.html").as_uri())
    page.emulate_media(media="print")
    expect(page.locator(".frame .says")).to_be_visible()
    expect(page.locator(".frame button").first).to_be_hidden()


def test_the_summary_prints_on_one_page(opened: Callable[[str], Page]) -> None:
    page = opened("12-one-page.html")
    for paper in ("A4", "Letter"):
        printed = page.pdf(format=paper)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, paper
    # Other decks have more than a page, which proves that pages are counted.
    assert len(re.findall(rb"/Type\s*/Page\b", opened("08-training.html").pdf())) > 1
