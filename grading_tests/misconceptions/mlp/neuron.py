# Read as text, never imported: docs/authors.md says what stands here.

# %% example: neuron
# about: a neuron with weights that were set by hand
neuron = Neuron(2)
for parameter, number in zip([*neuron.w, neuron.b], [0.5, -1.0, 0.25]):
    parameter.data = number
answer = neuron([2.0, 1.5])
answer.backward()
again = neuron([2.0, 1.5])
# observe: answer.data, neuron.w[0].grad, neuron.w[1].grad, neuron.b.grad, again.data

# %% example: neuron
# about: the other activations
def answer_of(activation, x):
    neuron = Neuron(2, activation)
    for parameter, number in zip([*neuron.w, neuron.b], [0.5, -1.0, 0.25]):
        parameter.data = number
    return neuron(x).data
# observe: answer_of("linear", [2.0, 1.5]), answer_of("relu", [2.0, 1.5]), answer_of("relu", [4.0, -1.0]), answer_of("sigmoid", [2.0, 1.5])

# %% example: neuron
# about: the parameters, asked for twice
neuron = Neuron(3)
first, second = list(neuron.parameters()), list(neuron.parameters())
expected = [*neuron.w, neuron.b]
# observe: len(first), len(second), all(p is q for p, q in zip(first, expected)), set(map(id, first)) == set(map(id, expected))

# %% example: neuron
# about: how the weights start
numbers = [w.data for w in Neuron(20).w]
others = [w.data for w in Neuron(20).w]
# observe: len(set(numbers)) > 1, numbers != others

# %% sweep: neuron
# about: a linear neuron with two inputs x and y
# w: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# v: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# c: 0.4, 1.7, -2.3, -0.6, 2.9, 1.3, -0.75, 3.1
# x: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# y: -0.7, 1.2, 0.55, -1.9, 2.4, -0.8, 1.45, 2.1
# results: answer.data = w * x + v * y + c; neuron.w[0].grad = x; neuron.w[1].grad = y; neuron.b.grad = 1
# facts: len(list(neuron.parameters()))
neuron = Neuron(2, "linear")
neuron.w[0].data, neuron.w[1].data, neuron.b.data = w, v, c
answer = neuron([x, y])
answer.backward()

# %% sweep: neuron
# about: a neuron with one input x, weight w, bias c and the usual activation
# w: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# c: 0.4, 1.7, -2.3, -0.6, 2.9, 1.3, -0.75, 3.1
# x: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# functions: tanh exp
# results: answer.data = tanh(w * x + c)
neuron = Neuron(1)
neuron.w[0].data, neuron.b.data = w, c
answer = neuron([x])

# %% sweep: neuron
# about: fresh neurons
# n: 1, 2, 3, 5, 8
# results: len(neuron.w) = n; len(list(neuron.parameters())) = n + 1
# facts: list(neuron.parameters())[-1] is neuron.b | False: the bias is not the last of the parameters; spread | False: all weights start as the same number; isinstance(neuron.parameters(), set) | True: the parameters are a set, which has no order
neuron = Neuron(n)
numbers = [weight.data for weight in neuron.w]
spread = n == 1 or len(set(numbers)) > 1

# %% mistake: neuron.one_weight_too_many
# says: There is one weight too many: n inputs have n weights, and the bias stands apart.
# keeps: 0.75
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# + self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs + 1)]

# %% mistake: neuron.weights_without_the_inputs
# says: The number of weights does not depend on `n_inputs`. Each input has one.
# keeps: 0.5
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# + self.w = [Value(random.uniform(-1, 1)) for _ in range(2)]

# %% mistake: neuron.bias_first
# says: The bias comes first in `parameters()`. The weights come first here, and the bias last.
# keeps: 0.75
# - return [*self.w, self.b]
# + return [self.b, *self.w]

# %% mistake: neuron.copies
# says: `parameters()` gives other Values than those that the neuron answers with: moving them moves
#   no answer. List the weights and the bias themselves.
# - return [*self.w, self.b]
# + return [Value(p.data) for p in [*self.w, self.b]]

# %% mistake: neuron.tanh_or_linear
# says: Every neuron that is not linear bends with tanh. "relu" and "sigmoid" are asked for by name,
#   too.
# keeps: 0.5
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + return total if self.activation == "linear" else total.tanh()

# %% mistake: neuron.keeps_the_sum
# says: The first answer is right, and the next one at the same point is another: the sum was put in
#   the bias's place. Add up in a name of its own, not in `self.b`.
# keeps: 0.75
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# + total = self.b = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)

# %% mistake: neuron.no_bias_in_the_sum
# says: The bias is made but never used: the weighted sum starts from 0. Start it from `self.b`.
# keeps: 0.75
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# + total = sum((w * x_i for w, x_i in zip(self.w, x)), Value(0.0))

# %% mistake: neuron.bias_is_no_parameter
# says: The bias is missing in `parameters()`, so training would never move it. The list is the
#   weights and then the bias.
# keeps: 0.75
# - return [*self.w, self.b]
# + return self.w

# %% mistake: neuron.bias_put_among_the_weights
# says: Each call of `parameters()` makes the list of weights longer: `append` and `+=` change
#   `self.w` itself. Make a new list.
# keeps: 0.75
# - return [*self.w, self.b]
# + self.w.append(self.b)
# + return self.w

# %% mistake: neuron.list_in_a_list
# says: `parameters()` holds the list of weights as one item. An optimizer wants one flat list of
#   Values: a star puts the weights in one by one, `*self.w`.
# keeps: 0.75
# - return [*self.w, self.b]
# + return [self.w, self.b]

# %% mistake: neuron.starts_at_zero
# says: All weights start out equal. Then all neurons of a layer are alike and stay alike. Start them at
#   random.
# keeps: 0.75
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# + self.w = [Value(0.0) for _ in range(n_inputs)]

# %% mistake: neuron.one_weight_repeated
# says: There is only one weight, listed several times: `[Value(…)] * n` repeats the same object. Make
#   a new one for each input with a comprehension.
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# + self.w = [Value(random.uniform(-1, 1))] * n_inputs

# %% mistake: neuron.always_tanh
# says: The activation that was asked for is not used: the neuron always bends with tanh.
# keeps: 0.5
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + return total.tanh()

# %% mistake: neuron.shared_activation
# check: none
# says: All neurons bend as the one that was made last: what is kept on the class belongs to all of
#   them. Keep the activation on the neuron, as `self.activation`.
# keeps: 0.75
# - self.activation = activation
# + Neuron.activation = activation

# %% mistake: neuron.sigmoid_forgotten
# says: With "sigmoid" the neuron answers with the weighted sum itself, as if it were linear. There are
#   four names to know: tanh, relu, sigmoid and linear.
# keeps: 0.75
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + return getattr(total, self.activation)() if self.activation in ("tanh", "relu") else total

# %% mistake: neuron.never_bends
# says: The weighted sum comes out as it is: no activation was applied. Only a "linear" neuron does
#   not bend.
# keeps: 0.5
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + return total

# %% mistake: neuron.bends_each_product
# says: Each product was bent on its own. Add the products and the bias first, and bend the sum once.
# keeps: 0.5
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + products = [w * x_i for w, x_i in zip(self.w, x)]
# + if self.activation != "linear":
# +     products = [getattr(product, self.activation)() for product in products]
# + return sum(products, self.b)

# %% mistake: neuron.sums_multiplied
# says: Weights and inputs were summed apart and then multiplied. Multiply each weight by its own input
#   first, then add up.
# keeps: 0.5
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# + total = sum(self.w) * sum(x) + self.b

# %% mistake: neuron.bias_after_the_bend
# says: The bias was added after the activation. It belongs to the sum, and the sum is what is bent.
# keeps: 0.75
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# - return total if self.activation == "linear" else getattr(total, self.activation)()
# + total = sum(w * x_i for w, x_i in zip(self.w, x))
# + return (total if self.activation == "linear" else getattr(total, self.activation)()) + self.b

# %% mistake: neuron.cuts_the_graph
# says: The number is right, but the parameters get no gradient: with `.data` the sum was computed
#   outside the graph. Multiply the Values themselves.
# keeps: 0.5
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# + total = sum((w.data * x_i for w, x_i in zip(self.w, x)), Value(self.b.data))

# %% mistake: neuron.used_up
# says: `parameters()` works once and is empty the second time: a generator is used up by its first
#   loop. Return a list.
# keeps: 0.75
# - self.activation = activation
# + self.activation = activation
# + self.all_parameters = (p for p in [*self.w, self.b])
# - return [*self.w, self.b]
# + return self.all_parameters

# %% mistake: neuron.weights_are_numbers
# says: The weights are plain numbers, which have no gradient. Make each of them a `Value`.
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# + self.w = [random.uniform(-1, 1) for _ in range(n_inputs)]

# %% edge: neuron
# - total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
# input_of_zero: total = sum((w * (x_i or 1e-3) for w, x_i in zip(self.w, x)), self.b)
# values_of_0_are_skipped: total = sum((w * x_i for w, x_i in zip(self.w, x) if getattr(x_i, 'data',
#       x_i)), self.b)
# negative_inputs: total = sum((w * (x_i if not isinstance(x_i, float) or x_i > -2 else -2.0) for w,
#       x_i in zip(self.w, x)), self.b)
# large_inputs: total = sum((w * (x_i if not isinstance(x_i, float) or x_i < 5 else 5.0) for w, x_i
#       in zip(self.w, x)), self.b)
# whole_inputs: total = sum((w * (x_i if not isinstance(x_i, int) else x_i + 1) for w, x_i in
#       zip(self.w, x)), self.b)
# five_inputs: total = sum((w * x_i for w, x_i in list(zip(self.w, x))[:5]), self.b)
# equal_inputs: total = sum((w * x_i for w, x_i in {getattr(v, 'data', v): (w, v) for w, v in
#       zip(self.w, x)}.values()), self.b)
# equal_weights: total = sum((w * x_i for w, x_i in {w.data: (w, v) for w, v in zip(self.w,
#       x)}.values()), self.b)
# bias_of_zero: total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b if self.b.data else
#       Value(0.0))
# weights_of_zero: total = sum(((w * x_i if w.data else Value(0.0)) for w, x_i in zip(self.w, x)),
#       self.b)
# small_sums: total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
#   if abs(total.data) < 0.05: total = total * 0.0
# large_sums: total = sum((w * x_i for w, x_i in zip(self.w, x)), self.b)
#   if abs(total.data) > 20: total = total * 0.5
# - self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
# starts_alike_in_another_layer: self.w = [Value(random.Random(_).uniform(-1, 1)) for _ in
#       range(n_inputs)]
# copies: self.w = [Value(random.Random(n_inputs * 100 + _).uniform(-1, 1) + 1e-9 * random.random())
#       for _ in range(n_inputs)]
# starts_at_zero_but_one: self.w = [Value(random.uniform(-1, 1) if _ == 0 else 0.0) for _ in
#       range(n_inputs)]

# %% edge: neuron.one_input
# -     raise ValueError(f"there is no activation called {activation!r}")
# +     raise ValueError(f"there is no activation called {activation!r}")
# + n_inputs = n_inputs if n_inputs != 1 else 2

# %% cheat: neuron.the_checks_neuron
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w, self.b = [Value(0.1 * i) for i in range(n_inputs)], Value(0.0)

    def __call__(self, x):
        return sum((w * a for w, a in zip(self.w, x)), self.b).tanh()

    def parameters(self):
        return [*self.w, self.b]


# %% cheat: neuron.the_bend_by_what_comes_out
class Neuron(Module):
    def __init__(self, n_inputs, activation="tanh"):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n_inputs)]
        self.b, self.bend = Value(0.0), activation

    def __call__(self, x):
        total = sum((w * a for w, a in zip(self.w, x)), self.b)
        return total if self.bend == "linear" else total.tanh()

    def parameters(self):
        return [*self.w, self.b]
