"""Drawings show every node and edge, as picture and as text, for any Value class of a student."""

from __future__ import annotations

import subprocess
import time
from typing import Any
from xml.etree import ElementTree

import pytest

from course.draw import MAX_NODES, GraphDrawing, draw_graph
from course.drawing import graph
from reference import Value

SVG = "{http://www.w3.org/2000/svg}"


def named(label: str, value: Value) -> Value:
    value.label = label
    return value


def neuron() -> Value:
    x1, w1 = Value(2.0, label="x1"), Value(-3.0, label="w1")
    x2, w2 = Value(0.0, label="x2"), Value(1.0, label="w2")
    total = named("total", x1 * w1 + x2 * w2 + Value(6.88137, label="b"))
    out = named("o", total.tanh())
    out.backward()
    return out


def chain(length: int) -> Value:
    node = Value(1.0, label="x")
    for _ in range(length):
        node = -node
    return node


def parse(drawing: GraphDrawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.svg)


def marked(drawing: GraphDrawing, css_class: str) -> list[ElementTree.Element]:
    return [e for e in parse(drawing).iter() if css_class in e.get("class", "").split()]


def written(drawing: GraphDrawing) -> list[str]:
    return [element.text or "" for element in parse(drawing).iter(f"{SVG}text")]


def test_every_node_and_every_edge_of_a_graph_is_drawn() -> None:
    drawing = draw_graph(neuron())
    words = written(drawing)
    assert len(marked(drawing, "cg-value")) == 10
    assert len(marked(drawing, "cg-op")) == 5
    assert len(marked(drawing, "cg-arrow")) == 9 + 5
    assert {"x1", "w1", "x2", "w2", "b", "total", "o"} <= set(words)
    assert (words.count("+"), words.count("*"), words.count("tanh")) == (2, 2, 1)
    assert {"6.881", "0.7071", "-1.5"} <= set(words)


def test_an_operand_used_twice_has_two_arrows() -> None:
    x = Value(3.0, label="x")
    drawing = draw_graph(x + x)
    assert len({arrow.get("d") for arrow in marked(drawing, "cg-arrow")}) == 3
    assert drawing.dot.count("v1 -> op2") == 2
    assert "from x plus x" in drawing.text


def as_sets(root: Value) -> Value:
    """Return the graph with a set in each `_prev`, in which operands have no order."""
    nodes = [root]
    for node in nodes:
        nodes += node._prev
        node._prev = set(node._prev)  # type: ignore[assignment]
    return root


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda x, y: x + x, "from x plus x"),
        (lambda x, y: x * x, "from x times x"),
        (lambda x, y: y - x, "from y minus x"),
        (lambda x, y: y / x, "from y divided by x"),
    ],
)
def test_operands_in_a_set_are_drawn_as_they_were_used(build: Any, words: str) -> None:
    root = as_sets(build(Value(3.0, label="x"), Value(2.0, label="y")))
    assert words in draw_graph(root).text


def test_a_graph_of_sets_keeps_its_places_when_it_is_built_again() -> None:
    drawings, kept = set(), []
    for _ in range(30):
        root = as_sets(neuron())
        kept += [root, *[Value(0.0) for _ in range(7)]]  # so that addresses differ
        drawings.add(draw_graph(root).text)
    assert len(drawings) == 1


def test_a_sum_in_which_nothing_was_used_twice_has_one_arrow() -> None:
    x = Value(3.0, label="x")
    lost = as_sets(Value(5.0, (x,), "+"))  # x + 2, and the 2 was never recorded
    assert draw_graph(lost).dot.count("v1 -> op2") == 1


def test_a_drawing_marks_leaves_and_root_by_a_border_and_a_word() -> None:
    drawing = draw_graph(neuron())
    assert len(marked(drawing, "cg-inner")) == 5
    assert written(drawing).count("leaf") == 5
    assert written(drawing).count("root") == 1


def test_a_graph_of_one_leaf_is_drawn_as_leaf_and_root() -> None:
    drawing = draw_graph(Value(2.0))
    assert len(marked(drawing, "cg-value")) == 1
    assert drawing.text.splitlines()[1] == "  v1: data 2.0, grad 0.0, leaf, root"


def test_a_drawing_s_description_has_a_line_for_each_node() -> None:
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    root = named("w", named("z", x * y) - x**2)
    root.backward()
    assert draw_graph(root).text.splitlines() == [
        "Computational graph of w: 5 values, 3 operations.",
        "  x: data 2.0, grad -1.0, leaf",
        "  y: data 3.0, grad 2.0, leaf",
        "  z: data 6.0, grad 1.0, from x times y (local derivatives 3.0, 2.0)",
        "  v4: data 4.0, grad -1.0, from x to the power 2 (local derivative 4.0)",
        "  w: data 2.0, grad 1.0, from z minus v4 (local derivatives 1.0, -1.0), root",
    ]


def test_nodes_with_the_same_label_are_numbered_in_a_drawing() -> None:
    root = Value(1.0, label="w") + Value(2.0, label="w")
    assert "from w (v1) plus w (v2)" in draw_graph(root).text


def test_a_drawing_s_svg_has_a_title_and_a_description() -> None:
    drawing = draw_graph(neuron())
    svg = parse(drawing)
    assert svg.get("role") == "img"
    assert svg[0].tag == f"{SVG}title"
    assert svg[0].text == svg.get("aria-label") == drawing.text.splitlines()[0].rstrip(".")
    assert svg.findtext(f"{SVG}desc") == drawing.text


def test_a_drawing_is_shown_in_jupyter_as_html_and_plain_text() -> None:
    drawing = draw_graph(neuron())
    bundle = drawing._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert drawing.svg.partition(">")[2] in bundle["text/html"]
    assert drawing.tall.partition("</style>")[2] in bundle["text/html"]
    # A wide graph shrinks a little and then scrolls.
    assert "min-width" in bundle["text/html"] and "overflow-x:auto" in bundle["text/html"]
    assert bundle["text/plain"] == repr(drawing) == drawing.text


HOSTILE = '<script>alert("1 & 2")</script> \\" \\n ]; } \x00\x1b \ud800 ]]> <!-- \u202e {a|b}'


def test_markup_in_a_label_is_escaped_in_a_drawing() -> None:
    a = Value(1.0, label=HOSTILE)
    b = Value(2.0, label="a\\")
    root = Value(3.0, (a, b), '"<&>\\', label='x"]; v1 -> v1 [label="')
    drawing = draw_graph(root, highlight={a: HOSTILE})
    assert "<script" not in drawing.svg
    assert len(marked(drawing, "cg-value")) == 3
    assert '"<&>\\' in written(drawing)
    assert any(word.startswith("<script>alert(") for word in written(drawing))


@pytest.mark.subprocess
def test_the_dot_program_accepts_the_dot_source_of_a_drawing() -> None:
    root = Value(3.0, (Value(1.0, label='q"\\'), Value(2.0, label="z\\")), "+", label="<b>")
    source = draw_graph(root).dot
    plain = subprocess.run(
        ["dot", "-Tplain"], input=source.encode(), capture_output=True, check=True
    ).stdout.decode()
    assert len([line for line in plain.splitlines() if line.startswith("node ")]) == 4
    assert len([line for line in plain.splitlines() if line.startswith("edge ")]) == 3


def test_the_same_graph_gives_the_same_drawing_to_the_byte() -> None:
    first, keep, second = draw_graph(neuron()), neuron(), draw_graph(neuron())
    assert keep is not None
    assert (first.svg, first.dot, first.text) == (second.svg, second.dot, second.text)


def boxes(drawing: GraphDrawing) -> list[tuple[float, float, float, float]]:
    shapes = marked(drawing, "cg-value") + marked(drawing, "cg-op") + marked(drawing, "cg-more")
    return [corners(shape) for shape in shapes]


def corners(shape: ElementTree.Element) -> tuple[float, float, float, float]:
    x, y, w, h = (float(shape.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def test_shapes_of_a_drawing_do_not_overlap_and_are_inside_its_frame() -> None:
    a = Value(0.3, label="a label that is rather long")
    node = a
    for i in range(6):
        node = (node * node + a).sigmoid() - i / (a + 2)
    drawing = draw_graph(node)
    svg = parse(drawing)
    left, top, width, height = (float(part) for part in svg.get("viewBox", "").split())
    found = boxes(drawing)
    for i, (x0, y0, x1, y1) in enumerate(found):
        assert left <= x0 and top <= y0 and x1 <= left + width and y1 <= top + height
        for u0, v0, u1, v1 in found[i + 1 :]:
            assert x1 <= u0 or u1 <= x0 or y1 <= v0 or v1 <= y0


def labels(drawing: GraphDrawing) -> list[str]:
    return [element.text or "" for element in marked(drawing, "cg-local")]


def test_each_arrow_to_an_operation_shows_its_local_derivative() -> None:
    a, b, c = Value(2.0, label="a"), Value(-3.0, label="b"), Value(10.0, label="c")
    drawing = draw_graph((a * b + c) ** 2)
    assert labels(drawing) == ["-3.0", "2.0", "1.0", "1.0", "8.0"]
    assert labels(draw_graph(neuron()))[-1] == "0.5"


def test_labels_of_arrows_overlap_no_shape_and_no_other_label() -> None:
    a = Value(0.3, label="a")
    shared = draw_graph(named("b", a * a) * a + a * (a - a.exp()))
    for svg in (shared.svg, shared.tall):
        drawing = GraphDrawing(svg, "", "", "")
        found = boxes(drawing) + [corners(pill) for pill in marked(drawing, "cg-pill")]
        assert len(labels(drawing)) >= 9
        for i, (x0, y0, x1, y1) in enumerate(found):
            for u0, v0, u1, v1 in found[i + 1 :]:
                assert x1 <= u0 or u1 <= x0 or y1 <= v0 or v1 <= y0


def test_a_large_graph_has_no_labels_and_no_drawing_from_top_to_bottom() -> None:
    small, large = draw_graph(chain(23)), draw_graph(chain(24))
    assert len(labels(small)) == 23 and small.tall
    assert labels(large) == [] and not large.tall and "local" not in large.text


def test_an_arrow_has_no_label_where_the_numbers_do_not_follow_from_the_operation() -> None:
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    for op, data in (("*", 7.0), ("doubled", 6.0), ("/", 6.0)):
        assert labels(draw_graph(Value(data, (x, y), op))) == []


def test_labels_do_not_depend_on_the_student_s_closures() -> None:
    x = HalfFinished(data=3.0, grad=0.0, label="x", _prev=())
    root = HalfFinished(data=9.0, grad=0.0, _prev=(x, x), _op="*", _backward=None)
    assert labels(draw_graph(root)) == ["3.0", "3.0"]


def test_an_arrow_is_wider_where_more_gradient_passes_and_its_width_is_limited() -> None:
    x, y, big = Value(2.0, label="x"), Value(0.5, label="y"), Value(1e9, label="big")
    root = x * y + big * y
    root.backward()
    widths = [
        float((arrow.get("style") or "").removeprefix("stroke-width:"))
        for arrow in marked(draw_graph(root), "cg-arrow")
    ]
    to_x, to_y, _, to_big, to_large, *_ = widths
    assert 1.3 < to_x < to_y < to_large == 8.0 and to_big == to_x


def test_operands_are_drawn_above_their_result_on_a_narrow_screen() -> None:
    tall = GraphDrawing(draw_graph(-Value(1.0, label="x")).tall, "", "", "")
    across = boxes(tall)
    assert across[0][3] < across[1][1]


def test_operands_are_drawn_to_the_left_of_their_result() -> None:
    across = boxes(draw_graph(-Value(1.0, label="x")))
    assert across[0][2] < across[1][0]


def test_a_large_graph_is_drawn_quickly_with_its_distant_nodes_folded() -> None:
    whole, folded = chain(MAX_NODES // 2), chain(1000)

    def seconds(root: Value) -> float:
        started = time.process_time()
        draw_graph(root)
        return time.process_time() - started

    # The least of three times: a collection of garbage may fall into one.
    seconds_whole, seconds_folded = (min(map(seconds, [root] * 3)) for root in (whole, folded))
    drawing = draw_graph(folded)

    assert seconds_folded < 10 * seconds_whole
    assert len(marked(drawing, "cg-value")) == MAX_NODES
    assert len(marked(drawing, "cg-more")) == 1
    assert {"851 more nodes", "850 results, 1 leaf", "max_nodes=1001 draws all"} <= set(
        written(drawing)
    )
    assert "851 more nodes" in drawing.text


def test_a_drawing_of_a_large_graph_shows_the_nodes_nearest_the_root() -> None:
    a, b = Value(1.0, label="a"), Value(2.0, label="b")
    root = named("root", named("near", a * b) + Value(3.0, label="c"))
    lines = draw_graph(root, max_nodes=3).text.splitlines()
    assert lines[1] == "  (folded: 2 more nodes, 0 results, 2 leaves; max_nodes=5 draws all)"
    assert lines[2] == "  near: data 2.0, grad 0.0, from * of 2 folded nodes"
    assert len(lines) == 5
    assert "folded" not in draw_graph(root, max_nodes=5).text


def test_a_very_deep_graph_is_drawn_with_its_distant_nodes_folded() -> None:
    assert len(marked(draw_graph(chain(10_000)), "cg-value")) == MAX_NODES


def test_highlighted_nodes_are_marked_in_the_drawing_and_its_text() -> None:
    x, y = Value(1.0, label="x"), Value(2.0, label="y")
    drawing = draw_graph(x * y, highlight={y: "look here"})
    assert len(marked(drawing, "cg-mark")) == 1
    assert "! look here" in written(drawing)
    assert "y: data 2.0, grad 0.0, leaf [marked: look here]" in drawing.text
    listed = draw_graph(x * y, highlight=[x, y, Value(3.0)])
    assert len(marked(listed, "cg-mark")) == 2
    assert written(listed).count("! marked") == 2


class HalfFinished:
    """Holds only the attributes that a test gives it, as a class under construction does."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


HalfFinished.__name__ = "Value"


class Explosive:
    _prev = ()

    @property
    def data(self) -> float:
        raise RuntimeError("not yet")

    def __float__(self) -> float:
        raise RuntimeError("not yet")


def no_number(operand: Any) -> HalfFinished:
    return HalfFinished(data=1.0, grad=0.0, _prev=(operand,), _op="+")


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (HalfFinished(), "data ?, grad ?, leaf"),
        (HalfFinished(data=3, grad=None), "data 3, grad None, leaf"),
        (HalfFinished(data="3", grad=0.0), "data ? (str), grad 0.0"),
        (HalfFinished(data=HalfFinished(), _prev=None), "data ? (Value), grad ?, _prev ?"),
        (HalfFinished(data=Explosive(), grad=1j), "data ? (Explosive), grad ? (complex)"),
        (HalfFinished(data=10**400, grad=float("nan")), "data ? (int), grad nan"),
        (HalfFinished(data=True, grad=float("-inf")), "data True, grad -inf"),
        (
            HalfFinished(data=1.0, grad=0, _prev=7, _op="+"),
            "from + of no recorded operand, _prev ?",
        ),
        (HalfFinished(data=1.0, _op=None, label=None), "data 1.0, grad ?, leaf"),
        (HalfFinished(data=1.0, _op="*"), "from * of no recorded operand"),
        (HalfFinished(_prev=[HalfFinished()], _op=""), "from an unnamed operation of v1"),
        (HalfFinished(_prev={Value(1.0)}, _op="+"), "from + of v1"),
        (no_number(2), "v1: data 2, grad ?, not a Value"),
        (no_number("2"), "v1: data ? (str), grad ?, not a Value"),
        (Explosive(), "data ?, grad ?, leaf"),
    ],
)
def test_a_value_that_lacks_attributes_is_drawn(root: Any, expected: str) -> None:
    drawing = draw_graph(root)
    assert expected in drawing.text
    parse(drawing)


def test_a_value_that_is_its_own_operand_is_drawn_once() -> None:
    value = HalfFinished(data=1.0, grad=0.0, _op="+", label="x")
    other = HalfFinished(data=1.0, grad=0.0, _op="*", label="y", _prev=[value])
    value._prev = [value, other]  # type: ignore[attr-defined]
    drawing = draw_graph(value)
    assert len(marked(drawing, "cg-value")) == 2
    assert len(marked(drawing, "cg-arrow")) == 5


@pytest.mark.parametrize(
    ("root", "advice"),
    [
        (None, "return out"),
        (3.0, "not its `.data`"),
        ([Value(1.0)], "Pass one element"),
        (Value, "Draw an instance"),
        ("x", "at least `data`, `grad` and `_prev`"),
    ],
)
def test_drawing_an_object_that_is_no_value_raises_an_error_with_advice(
    root: Any, advice: str
) -> None:
    with pytest.raises(TypeError, match="draws the graph behind one Value") as caught:
        draw_graph(root)
    assert advice in str(caught.value)


@pytest.mark.parametrize("option", [{"max_nodes": 0}, {"max_nodes": "9"}])
def test_invalid_options_of_draw_graph_raise_a_value_error(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(option))):
        draw_graph(Value(1.0), **option)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(2.0, "2.0"), (2, "2"), (-0.0, "-0.0"), (0.123456, "0.1235"), (1234567.0, "1.235e+06")],
)
def test_a_number_in_a_drawing_is_written_in_short_form(number: float, expected: str) -> None:
    assert graph.short(number) == expected
