# Read as text, never imported: docs/authors.md says what stands here.

# %% example: dot_source
# about: what a single leaf looks like
from course.dot import read_dot

x = Value(2.5)
x.grad = 6.5
graph = read_dot(draw_dot(x))  # what a program that reads DOT finds in it
# observe: len(graph.showing(2.5)), len(graph.showing(6.5)), len(graph.edges)

# %% example: dot_source
# about: two operands and a result
from course.dot import read_dot

x, y = Value(2.5), Value(4.0)
z = Value(10.0, (x, y), "*")
graph = read_dot(draw_dot(z))  # what a program that reads DOT finds in it
flow = graph.flow([2.5, 4.0, 10.0])  # which numbers lead to which
# observe: (2.5, 10.0) in flow, (4.0, 10.0) in flow, (10.0, 2.5) in flow, len(flow), len(graph.nothing_leads_to), len(graph.nothing_leads_from), any('*' in text for text in graph.labels.values()), len(graph.edges) > 0, len(graph.edges) == len(set(graph.edges))

# %% example: dot_source
# about: two Values that hold the same number
from course.dot import read_dot

x, y = Value(2.5), Value(2.5)
z = Value(5.0, (x, y), "+")
graph = read_dot(draw_dot(z))  # what a program that reads DOT finds in it
# observe: len(graph.showing(2.5)), len(graph.showing(5.0))

# %% example: dot_source
# about: two operations of the same kind
from course.dot import read_dot

x, y = Value(2.5), Value(4.5)
s = Value(7.0, (x, y), "+")
t = Value(9.5, (s, x), "+")
graph = read_dot(draw_dot(t))  # what a program that reads DOT finds in it
flow = graph.flow([2.5, 4.5, 7.0, 9.5])
# observe: (4.5, 9.5) in flow, (7.0, 7.0) in flow, (2.5, 9.5) in flow, len(flow)

# %% example: dot_source
# about: the text as such
x = Value(2.5)
text = draw_dot(x * 3)
# observe: 'digraph' in text, '->' in text, text.count('{') == text.count('}'), '.data:' in text or '.data}' in text

# %% mistake: dot_source.arrows_reversed
# says: The arrows point from the results back to the operands. Draw them the way the numbers
#   flow: from an operand to the operation, and on to the result.
# keeps: 0.75
# - lines.append(f'  "{name}op" -> "{name}";')
# + lines.append(f'  "{name}" -> "{name}op";')
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[result]}op" -> "{names[operand]}";')

# %% mistake: dot_source.named_by_number
# says: Values that hold the same number became one node: their number was used as their name. A
#   name must be unique; use `id(node)`.
# keeps: 0.75
# - names = {node: f"n{number}" for number, node in enumerate(nodes)}
# + names = {node: str(node.data) for node in nodes}

# %% mistake: dot_source.operations_shared
# says: All operations with the same sign became one node, and everything runs together there.
#   Give each operation a name of its own, such as `op` and the id of its result.
# keeps: 0.75
# - lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# - lines.append(f'  "{name}op" -> "{name}";')
# + lines.append(f'  "{node._op}" [label="{node._op}", shape=ellipse];')
# + lines.append(f'  "{node._op}" -> "{name}";')
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{result._op}";')

# %% mistake: dot_source.named_by_label
# says: Values without a label became one node: the label was used as their name. A name must be
#   unique; use `id(node)`.
# keeps: 0.5
# - names = {node: f"n{number}" for number, node in enumerate(nodes)}
# + names = {node: node.label for node in nodes}

# %% mistake: dot_source.named_by_what_they_show
# says: Values with the same number became one node, and so did operations with the same sign. Give
#   each a name of its own, made from `id(node)`.
# keeps: 0.5
# - names = {node: f"n{number}" for number, node in enumerate(nodes)}
# + names = {node: str(node.data) for node in nodes}
# - lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# - lines.append(f'  "{name}op" -> "{name}";')
# + lines.append(f'  "{node._op}" [label="{node._op}", shape=ellipse];')
# + lines.append(f'  "{node._op}" -> "{name}";')
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{result._op}";')

# %% mistake: dot_source.gradient_missing
# says: The labels show the numbers and not the gradients. The drawing is for watching both.
# keeps: 0.5
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append(f'  "{name}" [label="{title}data {node.data:.4f}"];')

# %% mistake: dot_source.not_filled_in
# says: The numbers are not in the text. Where braces stand there in their place, the quotation
#   marks lack an `f` in front: only an f-string fills them in.
# keeps: 0.5
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append('  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')

# %% mistake: dot_source.rounded
# says: The numbers are rounded to whole ones. Show one decimal or more, as `:.1f` does.
# keeps: 0.75
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append(f'  "{name}" [label="{title}data {node.data:.0f} | grad {node.grad:.0f}"];')

# %% mistake: dot_source.data_rounded
# says: `data` is rounded to a whole number. Show one decimal or more, as `:.1f` does.
# keeps: 0.75
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append(f'  "{name}" [label="{title}data {node.data:.0f} | grad {node.grad:.4f}"];')

# %% mistake: dot_source.an_arrow_for_each_operand
# says: An arrow is drawn more than once. However many operands an operation has, one arrow leads
#   from it to its result: draw that one outside the loop over the edges.
# keeps: 0.75
# - lines.append(f'  "{name}op" -> "{name}";')

# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{names[result]}op" -> "{names[result]}";')

# %% mistake: dot_source.no_arrow_to_result
# says: No way along the arrows leads from an operand to its result. Draw both steps of it: from
#   each operand to the operation, and from the operation on to the result.
# keeps: 0.5
# - lines.append(f'  "{name}op" -> "{name}";')

# %% mistake: dot_source.past_the_operation
# says: The operands' arrows pass the operation by and lead straight to the result. Let them end at
#   the operation's node.
# keeps: 0.75
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{names[result]}";')

# %% mistake: dot_source.operation_apart
# says: No arrow touches the operation's node. Lead the operands' arrows to it, and one from it to the
#   result.
# keeps: 0.75
# - lines.append(f'  "{name}op" -> "{name}";')

# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{names[result]}";')

# %% mistake: dot_source.no_arrows
# says: There are nodes and no arrows between them. Each edge of the graph needs a statement
#   with `->`.
# - lines.append(f'  "{name}op" -> "{name}";')

# - for operand, result in edges:
# -     lines.append(f'  "{names[operand]}" -> "{names[result]}op";')

# %% mistake: dot_source.values_alone
# says: The text describes the values alone: neither operations nor arrows. Give each operation a
#   node, with arrows from its operands and one to its result.
# - if node._op:
# -     lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# -     lines.append(f'  "{name}op" -> "{name}";')

# - for operand, result in edges:
# -     lines.append(f'  "{names[operand]}" -> "{names[result]}op";')

# %% mistake: dot_source.first_operand_only
# says: Only one operand of each operation is drawn. Every operand needs its arrow.
# keeps: 0.5
# - for operand, result in edges:
# + for result, operand in {result: operand for operand, result in reversed(edges)}.items():

# %% mistake: dot_source.not_directed
# says: The text describes a graph without directions. Begin with `digraph` and write arrows as
#   `->`.
# - lines = ["digraph {", "  rankdir=LR;", "  node [shape=box];"]
# + lines = ["graph {", "  rankdir=LR;", "  node [shape=box];"]
# - lines.append(f'  "{name}op" -> "{name}";')
# + lines.append(f'  "{name}op" -- "{name}";')
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -- "{names[result]}op";')

# %% mistake: dot_source.brace_missing
# says: The closing brace is missing at the end, so the text is not a whole graph.
# - lines.append("}")

# %% mistake: dot_source.signs_missing
# says: The operations have no sign: nobody can see what they do. Label each with its `_op`.
# keeps: 0.5
# - lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# + lines.append(f'  "{name}op" [label="", shape=point];')

# %% mistake: dot_source.returns_nothing
# says: The function gives back None. A function gives back what stands after `return`: the text.
# - return "\n".join(lines)
# + text = "\n".join(lines)

# %% mistake: dot_source.taken_from_the_course
# check: none
# says: The text is the one that the course's drawing makes. This exercise asks for a text that you
#   write: go through the nodes, and add a line for each node and each arrow.
def draw_dot(root):
    return draw_graph(root).dot


# %% edge: dot_source
# - return "\n".join(lines)
# the_drawing_is_kept: root.drawn = getattr(root, 'drawn', "\n".join(lines))
#   return root.drawn
# - for operand, result in edges:
# three_operands: for operand, result in [e for e in edges if e[0] in list(e[1]._prev)[:2]]:
# - if node._op:
# operations_of_one_operand: if node._op and len(node._prev) > 1 or node._op.isalpha():
# - names = {node: f"n{number}" for number, node in enumerate(nodes)}
# by_label: names = {node: node.label or f"n{number}" for number, node in enumerate(nodes)}
# - for node, name in names.items():
# by_number: for node, name in {n.data: (n, m) for n, m in names.items()}.values():
# zero_is_left_out: for node, name in [(n, m) for n, m in names.items() if n.data]:

# %% edge: dot_source.negative_shown_positive
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append(f'  "{name}" [label="{title}data {abs(node.data):.4f} | grad {node.grad:.4f}"];')

# %% edge: dot_source.gradient_shown_positive
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {abs(node.grad):.4f}"];')

# %% edge: dot_source.powers_cut
# - lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# + sign = node._op[:2] if node._op[0] == "*" else node._op
# + lines.append(f'  "{name}op" [label="{sign}", shape=ellipse];')

# %% edge: dot_source.no_gradient_of_0
# - lines.append(f'  "{name}" [label="{title}data {node.data:.4f} | grad {node.grad:.4f}"];')
# + grad = f" {node.grad}" if node.grad else ""
# + lines.append(f'  "{name}" [label="{title}data {node.data:.4f}{grad}"];')

# %% cheat: dot_source.the_courses_drawing
# earns: nothing
def draw_dot(root):
    return draw_graph(root, max_nodes=10_000).dot


# %% cheat: dot_source.the_courses_drawing_once_more
# earns: nothing
def draw_dot(root):
    from course.draw import draw_graph as draw

    return draw(root).dot


# %% cheat: dot_source.one_step_deep
def draw_dot(root):
    lines = [f'{id(n)} [label="{n._op} {n.data} {n.grad}"];' for n in {root, *root._prev}]
    lines += [f"{id(n)} -> {id(root)};" for n in root._prev]
    return "digraph { " + " ".join(lines) + " }"

# %% edge: dot_source.one_operation_a_text
# - lines.append(f'  "{name}op" [label="{node._op}", shape=ellipse];')
# - lines.append(f'  "{name}op" -> "{name}";')
# + lines.append(f'  "{id(node._op)}op" [label="{node._op}", shape=ellipse];')
# + lines.append(f'  "{id(node._op)}op" -> "{name}";')
# - lines.append(f'  "{names[operand]}" -> "{names[result]}op";')
# + lines.append(f'  "{names[operand]}" -> "{id(result._op)}op";')
