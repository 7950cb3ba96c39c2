# A right solution of `backward`: sets of ids, an order kept in a dictionary, and a drawing with
# labels in HTML.

# %% topological_order
def topological_order(root):
    done = {}

    def visit(node):
        if id(node) not in done:
            done[id(node)] = None
            for operand in set(node._prev):
                visit(operand)
            del done[id(node)]
            done[id(node)] = node

    visit(root)
    return list(done.values())


# %% dot_source
def draw_dot(root):
    lines = ["digraph picture", "{", "/* values are boxes */", "graph [rankdir=TB] node [shape=box]"]
    seen = set()

    def name(node):
        return f'"value {id(node)}"'

    def walk(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        lines.append(
            f"{name(node)} [label=<<b>{node.label}</b><br/>{node.data:.3f}<br/>{node.grad:.3f}>]"
        )
        if node._op:
            lines.append(f'"op {id(node)}" [label="{node._op}" shape=circle]')
            lines.append(f'"op {id(node)}":e -> {name(node)}:w')
            lines.append("{" + " ".join(name(o) for o in node._prev) + f'}} -> "op {id(node)}"')
        for operand in node._prev:
            walk(operand)

    walk(root)
    return "\n".join([*lines, "}"])
