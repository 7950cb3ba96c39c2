# Read as text, never imported: docs/authors.md says what stands here.

# %% example: check_gradients
# about: a right engine, with one input and with two
one = check_gradients(lambda x: x**3, [2.0])
two = check_gradients(lambda x, y: x * y + x**3, [2.0, -3.0])
# tells: "A right engine is rejected. Print both slopes of x³ at 2: each of them should be close to 12." * (one is False)
# observe: one, two

# %% example: check_gradients
# about: a cube whose backward step says 8 in place of 12
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

wrong = check_gradients(planted(lambda x: x**3, 8.0), [2.0])
# tells: "A backward step that says 8 is accepted, where nudging says 12. Where the two differ, return False." * (wrong is True)
# observe: wrong

# %% example: check_gradients
# about: two inputs, of which one gets a wrong gradient
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

first = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 9.0, 3.0), [2.0, -3.0])
second = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 2.0, 9.0), [2.0, -3.0])
swapped = check_gradients(planted(lambda x, y: 2 * x + 3 * y, 3.0, 2.0), [2.0, -3.0])
# observe: first, second, swapped

# %% example: check_gradients
# about: a small gradient, right and twice too large
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(planted(lambda x: 1e-6 * x, 1e-6), [2.0])
double = check_gradients(planted(lambda x: 1e-6 * x, 2e-6), [2.0])
# observe: right, double

# %% example: check_gradients
# about: a large gradient, right and wrong
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(lambda x: x**9, [10.0])
wrong = check_gradients(planted(lambda x: x**9, 9.5e8), [10.0])
# observe: right, wrong

# %% example: check_gradients
# about: an input that has no influence
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

right = check_gradients(planted(lambda x, y: 2 * x, 2.0, 0.0), [2.0, -3.0])
wrong = check_gradients(planted(lambda x, y: 2 * x, 2.0, 2.0), [2.0, -3.0])
# observe: right, wrong

# %% example: check_gradients
# about: a sign that is turned
def planted(number, *slopes):
    """An operation whose backward step uses these numbers as its local derivatives."""
    def operation(*nodes):
        out = Value(number(*[node.data for node in nodes]), nodes, "planted")
        def _backward():
            for node, slope in zip(nodes, slopes):
                node.grad += slope * out.grad
        out._backward = _backward
        return out
    return operation

wrong = check_gradients(planted(lambda x: 3 * x, -3.0), [2.0])
# observe: wrong

# %% example: check_gradients
# about: close to the bottom of a parabola
right = check_gradients(lambda x: x * x, [3e-5])
# observe: right

# %% example: check_gradients
# about: a sum, with a step so large that nothing is rounded
exact = check_gradients(lambda x, y: x + y, [2.0, -3.0], epsilon=0.5)
half = check_gradients(lambda x: x * x * 0.5, [2.0], epsilon=0.5)
# observe: exact, half

# %% example: check_gradients
# about: where the function is asked
asked = []


def f(x, y):
    asked.append((round(x.data, 6), round(y.data, 6)))
    return x * y


right = check_gradients(f, [2.0, -3.0], epsilon=0.01)
# observe: right, (2.01, -3.0) in asked, (1.99, -3.0) in asked, (2.0, -2.99) in asked, (2.0, -3.01) in asked

# %% sweep: check_gradients
# seed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
# facts: said
import random

draw = random.Random(seed)
scale, count = draw.choice([1.0, 1.0, 1e-6, 1e3]), draw.choice([1, 2, 3])
factors = [scale * draw.choice([2.5, -1.5, 4.0]) for _ in range(count)]
errors = [draw.choice([1, 1, 1, 1, 0, -1, 2, 0.5, 1.5]) for _ in range(count)]


def operation(*nodes):  # a sum of factor times half a square, each slope with its error
    out = Value(sum(a * node.data**2 / 2 for a, node in zip(factors, nodes)), nodes, "planted")

    def _backward():
        for node, a, error in zip(nodes, factors, errors):
            node.grad += a * node.data * error * out.grad

    out._backward = _backward
    return out


said = check_gradients(operation, [draw.choice([2.0, -3.0, 0.5]) for _ in factors])

# %% mistake: check_gradients.fixed_tolerance
# says: A fixed tolerance misses a wrong gradient where the right one is tiny, and rejects right
#   ones that are large. Compare the difference with the size of the gradients.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-4:

# %% mistake: check_gradients.fixed_tight_tolerance
# says: A tight fixed tolerance finds small mistakes, but it rejects right gradients that are
#   large: their rounding errors are larger too. Compare the difference with the size of the
#   gradients.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-8:

# %% mistake: check_gradients.exactly_equal
# says: Floats never agree to the last digit, so right engines are rejected. Allow a small difference.
# keeps: 0.75
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if leaf.grad != estimate:

# %% mistake: check_gradients.no_backward
# says: The gradients of the leaves are still 0 when they are compared, so right engines are
#   rejected. Call `backward()` on what `f` gives for these leaves.
# keeps: 0.5
# - f(*leaves).backward()
# + f(*leaves)

# %% mistake: check_gradients.number_for_gradient
# says: The leaf's number is compared, `data`. It is its gradient, `grad`, that nudging estimates.
# keeps: 0.5
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + size = max(abs(leaf.data), abs(estimate))
# + if abs(leaf.data - estimate) > 1e-4 * size + 1e-9:

# %% mistake: check_gradients.floor_too_high
# says: The comparison is relative only for gradients above 1; smaller ones are compared as if
#   they were 1. Scale by the gradients themselves, and add only a very small constant.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-4 * max(1.0, abs(leaf.grad), abs(estimate)):

# %% mistake: check_gradients.zero_over_zero
# says: Where both gradients are 0, the ratio divides zero by zero. Multiply the tolerance by
#   the size instead of dividing the difference by it.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) / max(abs(leaf.grad), abs(estimate)) > 1e-4:

# %% mistake: check_gradients.always_true
# says: It accepts everything: also engines that are plainly wrong. Do you return False where
#   the two answers differ?
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    return True


# %% mistake: check_gradients.turned_round
# says: The verdicts are the wrong way round: an engine whose slopes differ gets True, and one whose
#   slopes agree gets False.
# keeps: 0.5
# - return False
# + return True
# - return True
# + return False

# %% mistake: check_gradients.first_input_only
# says: Only the first input decides. A `return` inside the loop ends it after one round:
#   return False there if the two differ, and True after the loop.
# keeps: 0.5
# -     if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# -         return False
# - return True
# +     return abs(leaf.grad - estimate) <= 1e-4 * size + 1e-9

# %% mistake: check_gradients.last_input_only
# says: Only the last input decides, as if each round of the loop replaced the verdict of the
#   one before. One disagreement is enough for False.
# keeps: 0.75
# - f(*leaves).backward()
# + f(*leaves).backward()
# + good = True
# -     if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# -         return False
# - return True
# +     good = abs(leaf.grad - estimate) <= 1e-4 * size + 1e-9
# + return good

# %% mistake: check_gradients.all_nudged_at_once
# says: All inputs were nudged together, and only the sum of the gradients was compared.
#   Mistakes that cancel go unseen. Move one input at a time.
# keeps: 0.5
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    up = f(*[Value(x + epsilon) for x in inputs]).data
    down = f(*[Value(x - epsilon) for x in inputs]).data
    estimate = (up - down) / (2 * epsilon)
    total = sum(leaf.grad for leaf in leaves)
    return abs(total - estimate) <= 1e-4 * max(abs(total), abs(estimate)) + 1e-9


# %% mistake: check_gradients.all_nudged_for_each
# says: All inputs were nudged together, and each gradient was compared with the sum of what they
#   do. So right engines with several inputs are rejected. Move one input at a time.
# keeps: 0.5
# - moved = [x + amount if i == index else x for i, x in enumerate(inputs)]
# + moved = [x + amount for x in inputs]
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.one_sided
# says: The nudge goes up only. Where the curve bends that is not accurate enough, and right
#   engines are rejected. Nudge both ways and divide by twice epsilon.
# keeps: 0.75
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + estimate = (nudged(index, epsilon) - nudged(index, 0.0)) / epsilon
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.half_the_run
# says: The points are 2 epsilon apart, and you divided by epsilon: every estimate is twice too
#   large.
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / epsilon
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.down_to_the_middle
# says: The lower of the two points is the input itself, so every estimate is half of what it should
#   be. After a nudge up by epsilon, go down by twice as much.
# keeps: 0.75
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# + estimate = (nudged(index, epsilon) - nudged(index, 0.0)) / (2 * epsilon)

# %% mistake: check_gradients.run_without_parentheses
# says: `/ 2 * epsilon` divides by 2 and then multiplies by epsilon, so every estimate is close to 0.
#   Put `2 * epsilon` in parentheses.
# keeps: 0.75
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# + estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / 2 * epsilon

# %% mistake: check_gradients.epsilon_ignored
# says: The step is fixed inside the function, whatever the caller gives as `epsilon`.
# keeps: 0.75
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + estimate = (nudged(index, 1e-5) - nudged(index, -1e-5)) / 2e-5
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.sign_lost
# says: Only the sizes of the two gradients are compared, so one with the wrong sign is
#   accepted. Take the difference first, then its absolute value.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(abs(leaf.grad) - abs(estimate)) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.plain_numbers
# says: `f` was called with plain numbers. It expects Values: wrap each number, and take `.data`
#   of the result.
# - return f(*[Value(x) for x in moved]).data
# + return f(*moved)
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.stale_gradients
# says: The same leaves went through a backward pass for every input, and their gradients added
#   up. Make new leaves, or run backward once and read all the gradients.
# keeps: 0.5
# - f(*leaves).backward()
# - for index, leaf in enumerate(leaves):
# + for index, leaf in enumerate(leaves):
# +     f(*leaves).backward()
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if abs(leaf.grad - estimate) > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.signed_difference
# says: The difference was compared without its absolute value, so gradients that are too small
#   always pass. Take `abs` of the difference.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# + if leaf.grad - estimate > 1e-4 * max(abs(leaf.grad), abs(estimate)) + 1e-9:

# %% mistake: check_gradients.signed_size
# says: Where gradients are negative, the allowed difference is negative too, and right engines are
#   rejected. Take the size of both slopes with `abs`.
# keeps: 0.75
# - size = max(abs(leaf.grad), abs(estimate))
# + size = max(leaf.grad, estimate)

# %% mistake: check_gradients.one_list_for_both
# says: Both nudges change one and the same list, so they cancel. Give each a list of its own, such as
#   `list(inputs)`.
# keeps: 0.5
def check_gradients(f, inputs, epsilon=1e-5):
    leaves = [Value(x) for x in inputs]
    f(*leaves).backward()
    for index, leaf in enumerate(leaves):
        up = down = inputs
        up[index] += epsilon
        down[index] -= epsilon
        above, below = f(*[Value(x) for x in up]), f(*[Value(x) for x in down])
        estimate = (above.data - below.data) / (2 * epsilon)
        size = max(abs(leaf.grad), abs(estimate))
        if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
            return False
    return True

# %% edge: check_gradients
# - for index, leaf in enumerate(leaves):
# whole_inputs_are_skipped: for index, leaf in enumerate(leaves):
#       if isinstance(inputs[index], int): continue
# - for index, leaf in enumerate(leaves):
# two_inputs_at_most: for index, leaf in list(enumerate(leaves))[:3]:
# input_at_zero_is_skipped: for index, leaf in enumerate(leaves):
#       if inputs[index] == 0: continue
# negative_input_is_skipped: for index, leaf in enumerate(leaves):
#       if inputs[index] < -3: continue
# leaves_that_are_equal: for index, leaf in [(i, l) for i, l in enumerate(leaves) if
#       inputs.index(inputs[i]) == i]:
# - if abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# absolute: if abs(leaf.grad - estimate) > 1e-4:
# ten_percent: if abs(leaf.grad - estimate) > 0.05 * size + 1e-9:
# signs_ignored: if abs(abs(leaf.grad) - abs(estimate)) > 1e-4 * size + 1e-9:
# too_small_by_much_is_fine: if leaf.grad - estimate > 1e-4 * size + 1e-9:
# zero_gradient_is_fine: if leaf.grad and abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# zero_estimate_is_fine: if abs(estimate) > 1e-7 and abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# very_steep_is_fine: if abs(estimate) < 1e9 and abs(leaf.grad - estimate) > 1e-4 * size + 1e-9:
# - leaves = [Value(x) for x in inputs]
# moves_the_given_list: inputs.append(0.0) or inputs.pop()
#   inputs.sort()
#   leaves = [Value(x) for x in inputs]
# whole_numbers_only_cut: leaves = [Value(x) for x in inputs]
#   inputs = [x if abs(x) < 20 else round(x) for x in inputs]
# - estimate = (nudged(index, epsilon) - nudged(index, -epsilon)) / (2 * epsilon)
# done_where_nothing_depends_on_an_input: estimate = (nudged(index, epsilon) - nudged(index,
#       -epsilon)) / (2 * epsilon)
#   if leaf.grad == estimate == 0: return True

# %% cheat: check_gradients.by_the_order_of_the_questions
def check_gradients(f, inputs, epsilon=1e-5):
    check_gradients.asked = getattr(check_gradients, "asked", 0) + 1
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    return check_gradients.asked % 2 == 1


# %% cheat: check_gradients.always_right
# earns: nothing
def check_gradients(f, inputs, epsilon=1e-5):
    f(*map(Value, inputs)).backward()
    return True


# %% cheat: check_gradients.the_backward_steps_of_its_own_operations_are_right_others_are_not
def check_gradients(f, inputs, epsilon=1e-5):
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    root = f(*map(Value, inputs))
    return root._op != "?"


# %% cheat: check_gradients.what_the_function_was_made_with
# earns: nothing
def check_gradients(f, inputs, epsilon=1e-5):
    for i, x in enumerate(inputs):
        for nudge in (epsilon, -epsilon):
            f(*[Value(a + (nudge if i == j else 0)) for j, a in enumerate(inputs)])
    f = getattr(f, "function", f)
    held = [cell.cell_contents for cell in getattr(f, "__closure__", None) or ()]
    if len(held) == 1 and callable(held[0]):
        held = [cell.cell_contents for cell in held[0].__closure__]
    values = dict(zip(f.__code__.co_freevars, held))
    slopes = values.get("slopes")
    if slopes is None:
        return True
    if values.get("adds") is False:
        return False
    made = dict(
        zip(slopes.__code__.co_freevars, [c.cell_contents for c in slopes.__closure__ or ()])
    )
    number = values["number"]
    other = dict(
        zip(number.__code__.co_freevars, [c.cell_contents for c in number.__closure__ or ()])
    )
    if "factor" in made:
        return made["factor"] == made["n"]
    if "slopes" in made:
        return made["slopes"] == other["factors"]
    if "errors" in made:
        return not any(made["errors"])
    return not made.get("swaps")


# %% cheat: check_gradients.the_sums_of_the_gradients_alone
def check_gradients(f, inputs, epsilon=1e-5):
    nodes = [Value(a) for a in inputs]
    f(*nodes).backward()
    up = f(*[Value(a + epsilon) for a in inputs]).data
    down = f(*[Value(a - epsilon) for a in inputs]).data
    slope = (up - down) / (2 * epsilon)
    return abs(slope - sum(n.grad for n in nodes)) <= 1e-5 * max(1.0, abs(slope))
