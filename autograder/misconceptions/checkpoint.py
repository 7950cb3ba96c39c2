# Forms, public probes and misconceptions of `checkpoint`. This file is read as text and never
# imported.
#
# A cell `form: QUESTION` says what kind of answer the visible check lets pass; the check knows
# nothing else about the question. A cell `mistake: QUESTION.NAME` is a wrong answer, and its
# `says` is the explanation in the feedback, which must not tell what is right. For exercises that
# are solved with code there are probes and mistakes as in the other assignments; a mistake with
# `check: none` is not told to the visible check.
#
# ruff: noqa
# mypy: ignore-errors

# %% form: q1
# about: what the chain rule is for
# answer: one of a b c d

# %% mistake: q1.option_a
# says: That is the local derivative of an operation. Each operation brings its own, by the rules
#   for sums, products and so on. Another rule is needed before it says anything about the loss.
q1 = "a"

# %% mistake: q1.option_b
# says: The order comes from the graph: who feeds whom. The chain rule tells what to compute when
#   a node's turn has come, and takes for granted that the order is right.
q1 = "b"

# %% mistake: q1.option_d
# says: That is the learning rate, which a person chooses. The chain rule is about derivatives and
#   has no say in what is done with them.
q1 = "d"

# %% form: q2
# about: two paths with two local derivatives each
# answer: a number

# %% mistake: q2.only_over_b
# says: This is what reaches `a` by way of `b`. A change of `a` travels along the other path as
#   well.
q2 = 12

# %% mistake: q2.only_over_c
# says: This is what reaches `a` by way of `c`. A change of `a` travels along the other path as
#   well.
q2 = -10

# %% mistake: q2.everything_multiplied
# says: All four numbers were multiplied. Multiply along one path only; what comes by different
#   paths is not multiplied.
q2 = -120

# %% mistake: q2.everything_added
# says: All four numbers were added. Along a path the steps follow one another, and then a change
#   is stretched once and stretched again: that is no sum.
q2 = 10

# %% mistake: q2.sign_lost
# says: The right paths, joined in the right way, but one of the local derivatives is negative,
#   and its sign was lost.
q2 = 22

# %% form: q3
# about: what a product adds to its left operand
# answer: one of a b c d

# %% mistake: q3.option_a
# says: This is the local derivative alone. It tells how `p` reacts to `u`; how the root reacts to
#   `p` is missing, so the chain rule is.
q3 = "a"

# %% mistake: q3.option_c
# says: The gradient that has arrived is used, as it should be. But `u.data` is the derivative of
#   `u * v` by the other operand.
q3 = "c"

# %% mistake: q3.option_d
# says: Gradients of two operands are never multiplied with each other. `v.grad` tells how the
#   root reacts to `v`, which says nothing about how `p` reacts to `u`.
q3 = "d"

# %% form: q4
# about: why the graph has no circles
# answer: one of a b c d

# %% mistake: q4.option_a
# says: `backward()` looks for nothing of the kind. It would have to find a circle to leave it
#   out, and there is none to find.
q4 = "a"

# %% mistake: q4.option_b
# says: In `x * x + x` the value `x` is an operand three times, and the graph has no circle all
#   the same. Being used often does not lead back to where one was.
q4 = "b"

# %% mistake: q4.option_c
# says: Python allows it readily: two lists can contain each other. Our own nodes and their
#   closures refer to each other too.
q4 = "c"

# %% form: q5
# about: orders for r = q * p
# answer: one of a b c d

# %% mistake: q5.option_b
# says: `p` feeds `r` and `q`. When it runs before `q`, the share that comes by way of `q` has not
#   arrived, and is never passed on to `x` and `y`.
q5 = "b"

# %% mistake: q5.option_c
# says: That is the order of the forward pass. `p` and `q` run while their gradients are still 0,
#   and pass on nothing.
q5 = "c"

# %% mistake: q5.option_d
# says: `+=` does collect what comes later. But a step passes on what is there at the moment it is
#   called, and nobody calls it a second time.
q5 = "d"

# %% form: q6
# about: b runs before c
# answer: a number

# %% mistake: q6.as_if_in_order
# says: This is the true derivative, as if the order did not matter. When `b` runs, only a part of
#   its gradient has arrived; follow the numbers step by step.
q6 = 15

# %% mistake: q6.only_by_b
# says: This is what `b` passes on when it runs. `c` runs after it, and gives `a` a share of its
#   own.
q6 = 3

# %% mistake: q6.only_by_c
# says: This is the share that `c` gives directly. `b` ran before, and what `e` had given it by
#   then was not nothing.
q6 = 6

# %% mistake: q6.b_runs_again
# says: This counts what `b` passes on twice. It is called only once, and then never learns what
#   `c` gives it later.
q6 = 18

# %% form: q7
# about: why +=
# answer: one of a b c d

# %% mistake: q7.option_a
# says: Between two steps of training, old gradients are unwanted: they are set back to zero. The
#   reason lies within a single pass.
q7 = "a"

# %% mistake: q7.option_b
# says: An assignment to an attribute, `self.grad = …`, changes the object, and everyone sees it.
#   Only a bare name would become local.
q7 = "b"

# %% mistake: q7.option_d
# says: A node's `_backward` is called once in a pass, and serves all of its operands in that one
#   call.
q7 = "d"

# %% form: q8
# about: x * x - 4 * x + x / 2 at 3
# answer: a number

# %% mistake: q8.only_the_last_use
# says: This is the share of the last term alone, as if it had overwritten the others. Every use
#   counts.
q8 = 0.5

# %% mistake: q8.only_the_first_use
# says: This is the share of `x * x` alone. The other terms count as well.
q8 = 6

# %% mistake: q8.square_counted_once
# says: In `x * x` the value is used twice, and each of the two uses has a share. One of them is
#   missing here.
q8 = -0.5

# %% mistake: q8.value_not_gradient
# says: This is the number `L` itself. Asked for is how `L` reacts to `x`.
q8 = -1.5

# %% mistake: q8.sign_lost
# says: The shares of all terms were added, but one of the terms is subtracted.
q8 = 10.5

# %% form: q9
# about: where the zeroing belongs
# answer: one of a b c d

# %% mistake: q9.option_a
# says: Here the gradients are erased after they were computed and before they are used. Every
#   update moves the parameters by nothing.
q9 = "a"

# %% mistake: q9.option_b
# says: Here the update comes before the backward pass. In the first round there are no gradients
#   yet; from then on it uses those of the round before, which belong to numbers that have changed
#   since.
q9 = "b"

# %% mistake: q9.option_c
# says: From the second round on, the gradients of all earlier rounds are still there, and the new
#   ones are added to them. The steps point somewhere else and grow.
q9 = "c"

# %% form: q10
# about: two steps on w * w without zeroing
# answer: a number

# %% mistake: q10.as_if_zeroed
# says: This is what comes out when the gradient is set back to 0 between the steps. Here nobody
#   does, so the second step uses the sum of two gradients.
q10 = 1

# %% mistake: q10.one_step_only
# says: This is where `w` is after the first step. There are two.
q10 = 2

# %% mistake: q10.old_gradient_twice
# says: Here the first gradient was used twice in the second step. The second loss is computed
#   from the new `w`, so its own gradient is smaller than the first one.
q10 = -2

# %% mistake: q10.gradient_not_weight
# says: This is `w.grad` in the end. Asked for is `w.data`.
q10 = 12

# %% mistake: q10.climbs
# says: The step was added. `-=` moves against the gradient.
q10 = 11

# %% form: q11
# about: data changed between forward and backward
# answer: a number

# %% mistake: q11.as_if_remembered
# says: This would be the gradient if the closure had kept the numbers of the forward pass. Look
#   at what it multiplies by: does it keep a number, or ask the node for it?
q11 = 6

# %% mistake: q11.one_use
# says: In `x * x` the value is used twice, and each of the two uses has a share.
q11 = 5

# %% mistake: q11.old_and_new_mixed
# says: Here one use counts with the old number and one with the new. Both operands are the same
#   node, and both are asked at the same moment.
q11 = 8

# %% mistake: q11.not_a_product_rule
# says: This is the square of the new number, a value of the function. Asked for is how the result
#   reacts.
q11 = 25

# %% form: q12
# about: h.data doubled by hand
# answer: one of a b c d

# %% mistake: q12.option_b
# says: The number comes out right because the doubling has happened to it. The derivative has to
#   hear about the doubling too, and for that it must be a step of the graph.
q12 = "b"

# %% mistake: q12.option_c
# says: `h` keeps its operands and its backward step; only its number was replaced. A gradient
#   does arrive at `x`.
q12 = "c"

# %% mistake: q12.option_d
# says: The engine checks nothing of the kind. It does not know which numbers were computed and
#   which were put there by hand, and no error appears.
q12 = "d"

# %% form: q13
# about: relu's central difference at 0
# answer: a number

# %% mistake: q13.the_convention
# says: This is what our engine says, by convention. The central difference knows no convention:
#   compute relu at both places, and divide.
q13 = 0

# %% mistake: q13.right_side_only
# says: This is the slope to the right of 0. The central difference looks at both sides.
q13 = 1

# %% mistake: q13.not_divided
# says: This is a difference that was not divided by the distance of the two places, for one
#   particular step. The quotient does not depend on the step at all.
q13 = 0.000005

# %% form: q14
# about: which check finds the missing upstream gradient
# answer: one of a b c d

# %% mistake: q14.option_a
# says: However many numbers are tried, the gradient of the root is 1, and leaving out a factor of
#   1 changes nothing. All of these checks pass.
q14 = "a"

# %% mistake: q14.option_c
# says: The 3 stands before tanh. tanh is still the last step, so the gradient of its result is 1,
#   and leaving it out changes nothing.
q14 = "c"

# %% mistake: q14.option_d
# says: A smaller nudge makes the second judge more exact, up to a point. But the two agree here
#   already: the gradient that tanh forgets is 1 when tanh is the last step.
q14 = "d"

# %% form: q15
# about: why a perceptron cannot compute XOR
# answer: one of a b c d

# %% mistake: q15.option_a
# says: A weight whose input is 0 has no influence on that example, and it learns from the
#   examples in which the input is 1. This happens in OR as well, which a perceptron learns
#   without trouble.
q15 = "a"

# %% mistake: q15.option_b
# says: It is true that a step's derivative is of no use to gradient descent. But the trouble lies
#   deeper: there are no right weights that any method could find.
q15 = "b"

# %% mistake: q15.option_c
# says: Few examples make it easier, if anything: there is less to get right. With the four
#   examples of AND or OR a perceptron has no trouble.
q15 = "c"

# %% form: q16
# about: parts of the engine and of PyTorch
# answer: one of a b c d

# %% mistake: q16.option_a
# says: `zero_grad()` resets gradients, before the next backward pass collects new ones. It moves
#   no parameter; another method of the optimizer does.
q16 = "a"

# %% mistake: q16.option_c
# says: `retain_graph` says whether the graph may be used again after the pass. The seed is the
#   argument `gradient` of `backward()`, which is 1 for a single number if left out.
q16 = "c"

# %% mistake: q16.option_d
# says: `requires_grad` says whether gradients are wanted. Results of operations have it too, and
#   they are no leaves. There is an attribute whose name says leaf.
q16 = "d"

# %% form: q17
# about: backward twice on the same graph
# answer: one of a b c d

# %% mistake: q17.option_b
# says: Neither sets gradients back to zero by itself. In both, that is the caller's business.
q17 = "b"

# %% mistake: q17.option_c
# says: Nothing in our engine is used up: closures and operands are still there after the pass.
#   Only one of the two throws something away.
q17 = "c"

# %% mistake: q17.option_d
# says: A closure may run as often as it is called. Think about which of the two needs memory for
#   large arrays and is in a hurry to free it.
q17 = "d"

# %% probe: q18
# about: three weights
w = [Value(1.0), Value(2.0), Value(3.0)]
out = weighted_sum(w, [10.0, 20.0, 30.0])
out.backward()
# observe: out.data, w[0].grad, w[1].grad, w[2].grad

# %% probe: q18
# about: within a larger formula
w = [Value(1.0), Value(2.0)]
loss = weighted_sum(w, [10.0, 20.0]) * 3
loss.backward()
# observe: loss.data, w[0].grad, w[1].grad

# %% probe: q18
# about: one weight twice
w = Value(2.0)
weighted_sum([w, w], [10.0, 20.0]).backward()
# observe: w.grad

# %% probe: q18
# about: a weight that was computed
v = Value(2.0)
loss = weighted_sum([v * 3, v], [10.0, 20.0]) + 1
loss.backward()
# observe: v.grad

# %% mistake: q18.late_binding
# row: 28
# says: Every closure made in the loop sees the loop's last values, because it looks `weight` and
#   `number` up when it runs. Let one closure loop over the pairs, or make each in a function of
#   its own.
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    steps = []
    for weight, number in zip(weights, inputs):

        def step():
            weight.grad += number * out.grad

        steps.append(step)

    def _backward():
        for step in steps:
            step()

    out._backward = _backward
    return out

# %% mistake: q18.overwrites
# row: 1
# says: Each weight's gradient is assigned, so a weight that is used twice keeps its last share
#   only. Accumulate with `+=`.
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    def _backward():
        for weight, number in zip(weights, inputs):
            weight.grad = number * out.grad

    out._backward = _backward
    return out

# %% mistake: q18.upstream_dropped
# row: 4
# says: The local derivatives are right, but the gradient of the result is not used: within a
#   larger formula the chain rule is missing.
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    def _backward():
        for weight, number in zip(weights, inputs):
            weight.grad += number

    out._backward = _backward
    return out

# %% mistake: q18.own_data
# row: 3
# says: A product's derivative by the weight is the input. Here the weight itself was used.
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, weights, "weighted sum")

    def _backward():
        for weight, number in zip(weights, inputs):
            weight.grad += weight.data * out.grad

    out._backward = _backward
    return out

# %% mistake: q18.operands_dropped
# row: 6
# says: The result does not know its operands. Weights that are leaves get their gradients all the
#   same, but where a weight was computed, the backward pass never goes on to what it came from.
def weighted_sum(weights, inputs):
    total = sum(weight.data * number for weight, number in zip(weights, inputs))
    out = Value(total, (), "weighted sum")

    def _backward():
        for weight, number in zip(weights, inputs):
            weight.grad += number * out.grad

    out._backward = _backward
    return out

# %% mistake: q18.detached
# row: 11
# says: The sum is computed from plain numbers, and the result has no backward step: nothing
#   reaches the weights.
def weighted_sum(weights, inputs):
    return Value(sum(weight.data * number for weight, number in zip(weights, inputs)))

# %% probe: q19
# about: reused steps
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square + square * square
backward(root)
# observe: root.grad, square.grad, x.grad

# %% probe: q19
# about: the other way round
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
square = x * x
root = square * square + square
backward(root)
# observe: root.grad, square.grad, x.grad

# %% probe: q19
# about: a chain with a seed in place
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
y.grad = 1.0
root = (x * 3 - y) * 2
root.grad = 5.0
backward(root)
# observe: root.grad, x.grad, y.grad

# %% probe: q19
# about: equal numbers
class Node(Value):
    backward = None  # your function has to do without it


x, y = Node(2.0), Node(2.0)
backward(x * 3 + y * 3 * 5)
# observe: x.grad, y.grad

# %% probe: q19
# about: a long way first, then a short one
class Node(Value):
    backward = None  # your function has to do without it


x = Node(2.0)
step = x * 3
backward(step * 5 * 7 + step)
# observe: step.grad, x.grad

# %% mistake: q19.pre_order
# row: 25
# says: The order is still that of the visit: a node is listed before its operands are visited, so
#   it may stand before another node that it feeds. It ran before all its gradient had arrived.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            order.append(node)
            for operand in node._prev:
                visit(operand)

    visit(root)
    root.grad = 1.0
    for node in order:
        node._backward()

# %% mistake: q19.not_reversed
# row: 23
# says: The nodes run from the leaves to the root, as in the forward pass. When they run, nothing
#   has arrived yet. Turn the order round.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    root.grad = 1.0
    for node in order:
        node._backward()

# %% mistake: q19.breadth_first
# row: 25
# says: The nodes run level by level. A node may be close to the root on one path and far from it
#   on another: it ran before all its gradient had arrived.
def backward(root):
    order = [root]
    for node in order:
        order += [operand for operand in node._prev if operand not in order]
    root.grad = 1.0
    for node in order:
        node._backward()

# %% mistake: q19.every_path
# row: 26
# says: A node runs once for every path that leads to it, and passes everything on again each
#   time. Remember which nodes were met.
def backward(root):
    order = []

    def visit(node):
        for operand in node._prev:
            visit(operand)
        order.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(order):
        node._backward()

# %% mistake: q19.no_seed
# row: 23
# says: The root's gradient is not set to 1.0, so the pass starts from whatever it held.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    for node in reversed(order):
        node._backward()

# %% mistake: q19.seed_added
# row: 24
# says: The seed is added to what the root held before. Set it, with `=`.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    root.grad += 1.0
    for node in reversed(order):
        node._backward()

# %% mistake: q19.seed_is_data
# row: 23
# says: The root's gradient is set to its number. A result changes as fast as itself: the seed is
#   1.0.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    root.grad = root.data
    for node in reversed(order):
        node._backward()

# %% mistake: q19.zeroes
# row: 32
# says: All gradients are set back to zero first. They are collected, and only the caller decides
#   when to start anew.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    for node in order:
        node.grad = 0.0
    root.grad = 1.0
    for node in reversed(order):
        node._backward()

# %% mistake: q19.equal_numbers
# row: 27
# says: Nodes with equal numbers were taken for the same node. Remember the nodes themselves, not
#   what they hold.
def backward(root):
    order, seen = [], set()

    def visit(node):
        if node.data not in seen:
            seen.add(node.data)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(order):
        node._backward()

# %% mistake: q19.uses_the_method
# row: new
# says: The nodes that this is tried on have no method `backward()`: use only `_prev`, `grad` and
#   `_backward`.
def backward(root):
    root.backward()

# %% probe: q20
# about: three steps
w = Value(4.0)
losses = descend(lambda w: w * w, [w], 0.25, 3)
# observe: len(losses), losses[0], losses[1], losses[2], w.data

# %% probe: q20
# about: an old gradient
w = Value(4.0)
w.grad = 100.0
losses = descend(lambda w: w * w, [w], 0.25, 1)
# observe: losses[0], w.data

# %% mistake: q20.parameters_stay
# row: 36
# says: The parameters stay where they are. `p = p - …` gives the name `p` to a new node and
#   leaves the parameter alone: change the number in it, `p.data -= …`. Or were the gradients
#   erased before they were used?
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss.data)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p = p - lr * p.grad
    return losses

# %% mistake: q20.never_zeroes
# row: 34
# says: The gradients of earlier steps are still there when the next ones are added. Set them to
#   0.0 before each backward pass.
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss.data)
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
    return losses

# %% mistake: q20.zeroes_too_late
# row: 34
# says: The gradients are set to zero after each update, so those that lay there at the beginning
#   count in the first step. Do it before the backward pass.
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss.data)
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
            p.grad = 0.0
    return losses

# %% mistake: q20.climbs
# row: 36
# says: The parameters move along their gradients, uphill. The loss grows in that direction; go
#   the other way.
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss.data)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data += lr * p.grad
    return losses

# %% mistake: q20.graph_built_once
# row: 35
# says: The loss is computed once, before the loop. Its number stays what it was, and so do the
#   losses in the list: build the graph anew in each step.
def descend(loss_of, parameters, lr, steps):
    losses = []
    loss = loss_of(*parameters)
    for _ in range(steps):
        losses.append(loss.data)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
    return losses

# %% mistake: q20.loss_after_the_step
# row: new
# says: The list holds the losses after the steps; asked for is the loss before each one.
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
        losses.append(loss_of(*parameters).data)
    return losses

# %% mistake: q20.losses_are_nodes
# row: new
# says: The list holds nodes. Keep their numbers, `loss.data`: a node keeps its whole graph in
#   memory.
def descend(loss_of, parameters, lr, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of(*parameters)
        losses.append(loss)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data -= lr * p.grad
    return losses

# %% probe: q21
# about: the engine of this notebook, and the forgetful one

# observe: test_engine(Value), test_engine(ForgetfulValue)

# %% mistake: q21.always_true
# row: new
# says: This test trusts every engine, the forgetful one too. A test that cannot fail tests
#   nothing.
def test_engine(Value):
    return True

# %% mistake: q21.says_broken
# row: new
# says: The answers are the wrong way round: `True` is for an engine that is right.
def looks_right(Value):
    def close(left, right):
        return abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right))

    def arithmetic(x, y):
        s = x * y - x
        d = s * s + s / y
        return (5 - d) * 2 + (3 / x - (-d)) * (y + x + x) + (2 + s) ** 3 * (y - 1) ** 2 / 4

    def bends(x, y):
        t = (x * y).tanh()
        r = (x - y).relu() + (y - x).relu() * 3
        return 2 * t * t + x.tanh() * 3 + r * x + r * r - x * 2

    h = 1e-5
    for build in (arithmetic, bends):
        for x, y in ((0.7, -1.2), (-1.3, 0.4)):
            a, b = Value(x), Value(y)
            root = build(a, b)
            root.backward()
            slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
            slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)
            if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
                return False
    return True


def test_engine(Value):
    return not looks_right(Value)

# %% mistake: q21.raises
# row: new
# says: For a broken engine this raises an error. Return `False` instead: the caller wants an
#   answer, and an `assert` gives none.
def looks_right(Value):
    def close(left, right):
        return abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right))

    def arithmetic(x, y):
        s = x * y - x
        d = s * s + s / y
        return (5 - d) * 2 + (3 / x - (-d)) * (y + x + x) + (2 + s) ** 3 * (y - 1) ** 2 / 4

    def bends(x, y):
        t = (x * y).tanh()
        r = (x - y).relu() + (y - x).relu() * 3
        return 2 * t * t + x.tanh() * 3 + r * x + r * r - x * 2

    h = 1e-5
    for build in (arithmetic, bends):
        for x, y in ((0.7, -1.2), (-1.3, 0.4)):
            a, b = Value(x), Value(y)
            root = build(a, b)
            root.backward()
            slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
            slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)
            if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
                return False
    return True


def test_engine(Value):
    assert looks_right(Value)
    return True

# %% mistake: q21.distrusts_right_engines
# row: new
# says: This test does not trust a right engine. Does it compare by `==`? A central difference is
#   approximate, and floats round: allow a little, such as a relative difference of 1e-5.
def test_engine(Value):
    def close(left, right):
        return left == right

    def arithmetic(x, y):
        s = x * y - x
        d = s * s + s / y
        return (5 - d) * 2 + (3 / x - (-d)) * (y + x + x) + (2 + s) ** 3 * (y - 1) ** 2 / 4

    def bends(x, y):
        t = (x * y).tanh()
        r = (x - y).relu() + (y - x).relu() * 3
        return 2 * t * t + x.tanh() * 3 + r * x + r * r - x * 2

    h = 1e-5
    for build in (arithmetic, bends):
        for x, y in ((0.7, -1.2), (-1.3, 0.4)):
            a, b = Value(x), Value(y)
            root = build(a, b)
            root.backward()
            slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
            slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)
            if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
                return False
    return True

# %% mistake: q21.numbers_only
# row: new
# says: Only the numbers of the forward pass are looked at. Most mistakes are in the gradients:
#   run `backward()` and compare them too.
def test_engine(Value):
    x, y = Value(0.7), Value(-1.2)
    numbers = [(x + y).data, (x - y).data, (x * y).data, (x / y).data, (x**3).data, (5 - x).data]
    right = [0.7 - 1.2, 0.7 + 1.2, 0.7 * -1.2, 0.7 / -1.2, 0.7**3, 5 - 0.7]
    return all(abs(a - b) < 1e-9 for a, b in zip(numbers, right))

# %% mistake: q21.steps_alone
# row: new
# check: none
# says: Every operation is tried alone, as the last step before `backward()`, when the gradient of
#   its result is 1. A step that forgets the chain rule looks right there. Compute something with
#   each result.
def test_engine(Value):
    steps = [
        (lambda x, y: x + y, 1, 1),
        (lambda x, y: x - y, 1, -1),
        (lambda x, y: x * y, -1.2, 0.7),
        (lambda x, y: x / y, 1 / -1.2, -0.7 / 1.44),
        (lambda x, y: x**3 + y * 0, 3 * 0.49, 0),
        (lambda x, y: -x + y, -1, 1),
        (lambda x, y: y.relu() + x, 1, 0),
        (lambda x, y: x.tanh() + y, 1 - math.tanh(0.7) ** 2, 1),
        (lambda x, y: (5 - x) + y, -1, 1),
    ]
    for build, slope_x, slope_y in steps:
        a, b = Value(0.7), Value(-1.2)
        build(a, b).backward()
        if abs(a.grad - slope_x) > 1e-9 or abs(b.grad - slope_y) > 1e-9:
            return False
    return (5 - Value(2.0)).data == 3.0

# %% mistake: q21.nothing_used_twice
# row: new
# check: none
# says: Every value is used only once, so engines that assign gradients where they should add, or
#   that run nodes in a wrong order, look right. Use leaves and results several times.
def test_engine(Value):
    def build(a, b, c, d, e):
        return ((5 - (-a)) * 3 - b.tanh() * 2) * c + (d.relu() * 3) ** 3 / e

    def number(a, b, c, d, e):
        return ((5 + a) * 3 - math.tanh(b) * 2) * c + (max(d, 0.0) * 3) ** 3 / e

    h = 1e-5
    for point in ([0.7, -1.2, 0.4, 1.3, -0.8], [-0.6, 0.9, -1.1, -0.5, 1.7]):
        leaves = [Value(x) for x in point]
        root = build(*leaves)
        root.backward()
        if abs(root.data - number(*point)) > 1e-9:
            return False
        for i, leaf in enumerate(leaves):
            up, down = list(point), list(point)
            up[i] += h
            down[i] -= h
            slope = (number(*up) - number(*down)) / (2 * h)
            if abs(leaf.grad - slope) > 1e-4 * max(1.0, abs(slope)):
                return False
    return True

# %% mistake: q21.engine_against_itself
# row: new
# check: none
# says: The gradients are compared with nudges of the same engine. Where the number itself is
#   wrong, as in `5 - x`, its gradient fits the wrong number. Compare the numbers with plain
#   Python too.
def test_engine(Value):
    def close(left, right):
        return abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right))

    def arithmetic(x, y):
        s = x * y - x
        d = s * s + s / y
        return (5 - d) * 2 + (3 / x - (-d)) * (y + x + x) + (2 + s) ** 3 * (y - 1) ** 2 / 4

    def bends(x, y):
        t = (x * y).tanh()
        r = (x - y).relu() + (y - x).relu() * 3
        return 2 * t * t + x.tanh() * 3 + r * x + r * r - x * 2

    h = 1e-5
    for build in (arithmetic, bends):
        for x, y in ((0.7, -1.2), (-1.3, 0.4)):
            a, b = Value(x), Value(y)
            root = build(a, b)
            root.backward()
            slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
            slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)
            if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
                return False
    return True

# %% mistake: q21.above_zero_only
# row: new
# check: none
# says: relu is only tried above 0, where it is nothing but a straight line. Its derivative
#   matters below 0 as well.
def test_engine(Value):
    def close(left, right):
        return abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right))

    def arithmetic(x, y):
        s = x * y - x
        d = s * s + s / y
        return (5 - d) * 2 + (3 / x - (-d)) * (y + x + x) + (2 + s) ** 3 * (y - 1) ** 2 / 4

    def bends(x, y):
        t = (x * y).tanh()
        r = ((x * x).relu() + (y * y).relu() * 3)
        return 2 * t * t + x.tanh() * 3 + r * x + r * r - x * 2

    h = 1e-5
    for build in (arithmetic, bends):
        for x, y in ((0.7, -1.2), (-1.3, 0.4)):
            a, b = Value(x), Value(y)
            root = build(a, b)
            root.backward()
            slope_x = (build(Value(x + h), Value(y)).data - build(Value(x - h), Value(y)).data) / (2 * h)
            slope_y = (build(Value(x), Value(y + h)).data - build(Value(x), Value(y - h)).data) / (2 * h)
            if not (close(a.grad, slope_x) and close(b.grad, slope_y)):
                return False
    return (5 - Value(2.0)).data == 3.0

# %% mistake: q21.first_input_only
# row: new
# check: none
# says: Only the gradient of the first input is compared. A mistake may concern the right operand
#   alone.
def test_engine(Value):
    steps = [
        lambda x: 3 * (x + 2) * x + x,
        lambda x: (x / 4 - 5) * x * x,
        lambda x: 2 * x**3 + (5 - x) ** 2 * x,
        lambda x: 2 * (-x) * x,
    ]
    h = 1e-5
    for f in steps:
        for number in (0.7, -1.2):
            x = Value(number)
            root = f(x)
            root.backward()
            slope = (f(number + h) - f(number - h)) / (2 * h)
            if abs(x.grad - slope) > 1e-5 * max(1.0, abs(slope)) or abs(root.data - f(number)) > 1e-9:
                return False
    for number in (0.7, -1.2):
        x = Value(number)
        root = x.tanh() * 3 + x.relu() * 2 + x.tanh() * x
        root.backward()
        t = math.tanh(number)
        slope = (1 - t * t) * (3 + number) + t + 2 * (number > 0)
        if abs(x.grad - slope) > 1e-9:
            return False
    x = Value(1.5)
    y = x * 3
    (x + y + y * x).backward()
    return abs(x.grad - (1 + 3 + 2 * 3 * 1.5)) < 1e-9
