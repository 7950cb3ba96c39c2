"""DOT source is parsed in any usual spelling, and never executed."""

from __future__ import annotations

import time

import pytest

from course.dot import DotError, read_dot

SPELLINGS = {
    "quoted": 'digraph { "a" [label="2.5"]; "o" [label="+"]; "b" [label="4.5"];\n'
    '"a" -> "o"; "o" -> "b"; }',
    "bare": "digraph G { a [label=2.5] b [label=4.5] o [label=plus] a -> o o -> b }",
    "chain": 'strict digraph { 1 [label="2.5"] 2 [label="4.5"] 1 -> 3 -> 2 [color=red] }',
    "records": 'digraph { a:e -> b:w:n a [shape=record, label="{x | data 2.50}"] b [label="4.5"] }',
    "html": 'digraph { a [label=<<b>2.5</b><br/>grad>]; b [label="4.5"]; a -> b }',
    "groups": 'digraph { a [label="2.5"] b [label="4.5"] { a } -> { c } subgraph s { c -> b } }',
    "defaults": 'digraph { rankdir=LR; node [shape=box] edge [color=gray] graph [dpi=96]\n'
    'a [label="2.5"][color=red]\nb [label="4.5"]\na -> b }',
    "comments": 'digraph { // one\n# two\n/* three { */\n'
    'a [label="2." + "5"] b [label="4.5"] a -> b }',
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_equal_spellings_of_dot_source_give_the_same_graph(spelling):
    graph = read_dot(SPELLINGS[spelling])
    assert len(graph.showing(2.5)) == len(graph.showing(4.5)) == 1
    assert graph.flow([2.5, 4.5]) == {(2.5, 4.5)}


def test_a_node_without_a_label_shows_its_name():
    assert read_dot('digraph { "x = 2.5" -> y }').showing(2.5) == ["x = 2.5"]


@pytest.mark.parametrize(("kind", "arrows"), [("digraph", 2), ("strict digraph", 1)])
def test_equal_edges_of_a_strict_graph_count_once(kind, arrows):
    assert len(read_dot(f"{kind} {{ a -> b a -> b }}").edges) == arrows


def test_the_node_that_shows_a_number_is_found_in_any_number_format():
    graph = read_dot(r'digraph { a [label="w1\n-2.5000\n1.25e+01"] }')
    assert graph.showing(-2.5) == graph.showing(12.5) == ["a"]
    assert graph.showing(2.5) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("graph { a -- b }", "must begin with `digraph`"),
        ("digraph { a -- b }", "no direction"),
        ("digraph { a -> b", "closing brace"),
        ('digraph { a [label="x] }', "quotation mark"),
        ("digraph { a -> }", "a name is missing"),
        ("digraph { } more", "more text"),
        ("digraph { a [label=<b }", "angle bracket"),
        ("digraph " + "{" * 500, "nested too deeply"),
        ("digraph {" + " " * 300_000, "longer than"),
        ("digraph {" + f"{{ {' '.join(map(str, range(500)))} }} -> " * 2 + "x }", "arrows"),
        (None, "DOT is text"),
    ],
)
def test_text_that_is_not_dot_is_refused_with_a_message(text, says):
    with pytest.raises(DotError, match=says):
        read_dot(text)


def test_reading_a_very_long_dot_source_takes_bounded_time():
    arrows = " ".join(f"n{i} -> n{i + 1}" for i in range(950))
    labels = " ".join(f'n{i} [label="{i % 2 + 1}.5"]' for i in range(0, 900))
    wide = "{" + " ".join(f"n{i}" for i in range(900)) + "} -> n901"
    started = time.thread_time()
    flow = read_dot(f"digraph {{ {labels} {arrows} {wide} n950 [label=3.5] }}").flow(
        [1.5, 2.5, 3.5]
    )
    assert flow == {(1.5, 2.5), (2.5, 1.5), (2.5, 3.5), (1.5, 3.5)}
    assert time.thread_time() - started < 1


def test_a_dot_label_joined_from_many_strings_is_read():
    graph = read_dot("digraph { a [label=" + " + ".join(['"1"'] * 5000) + "] }")
    assert graph.labels["a"] == "1" * 5000
