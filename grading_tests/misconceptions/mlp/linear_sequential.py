# Read as text, never imported: docs/authors.md says what stands here.

# %% example: linear_sequential
# about: a Linear, parameters set by hand
linear = Linear(2, 2)
for number, parameter in enumerate(linear.parameters()):
    parameter.data = 1.0 - 0.75 * number
sums = linear([2.0, -1.0])
# observe: len(list(linear.parameters())), len(sums), sums[0].data, sums[1].data

# %% example: linear_sequential
# about: a Linear with one output
linear = Linear(3, 1)
for number, parameter in enumerate(linear.parameters()):
    parameter.data = 1.0 + number
answer = linear([1.0, 2.0, -1.0])
# observe: isinstance(answer, Value), answer.data

# %% example: linear_sequential
# about: how a Linear starts
start = [parameter.data for parameter in Linear(10, 2).parameters()]
# observe: start[:10] != start[11:21], len(set(start[:10])) > 1

# %% example: linear_sequential
# about: parts in a row
class Doubler(Module):
    def __call__(self, x):
        return x * 2


class Adder(Module):
    def __init__(self):
        self.amount = Value(3.0)

    def __call__(self, x):
        return x + self.amount

    def parameters(self):
        return [self.amount]


network = Sequential(Doubler(), Adder(), Adder())
answer = network(Value(5.0))
found = list(network.parameters())
# observe: answer.data, len(found), isinstance(found[0], Value)

# %% example: linear_sequential
# about: a part that gives its own list, asked twice
class Keeper(Module):
    def __init__(self):
        self.kept = [Value(1.0), Value(2.0)]

    def parameters(self):
        return self.kept


network = Sequential(Keeper(), Keeper())
once = len(list(network.parameters()))
# observe: once, len(list(network.parameters()))

# %% mistake: linear_sequential.first_list_extended
# says: The second time `parameters()` has more than the first time: you extend the first part's own
#   list. Begin with a new one.
# keeps: 0.75
# - return [parameter for row, b in zip(self.w, self.b) for parameter in [*row, b]]
# + if not hasattr(self, "listed"):
# +     self.listed = [each for row, b in zip(self.w, self.b) for each in [*row, b]]
# + return self.listed

# - return [parameter for part in self.parts for parameter in part.parameters()]
# + found = self.parts[0].parameters()
# + for part in self.parts[1:]:
# +     found.extend(part.parameters())
# + return found

# %% mistake: linear_sequential.bias_is_one_value
# says: All outputs share one bias. Each output has a bias of its own, as each has its own weights.
# keeps: 0.75
# - self.b = [Value(0.0) for _ in range(n_outputs)]
# + self.b = Value(0.0)
# - sum((w * x_i for w, x_i in zip(row, x)), b) for row, b in zip(self.w, self.b)
# + sum((w * x_i for w, x_i in zip(row, x)), self.b) for row in self.w
# - return [parameter for row, b in zip(self.w, self.b) for parameter in [*row, b]]
# + return [*(w for row in self.w for w in row), self.b]

# %% mistake: linear_sequential.linear_bends
# says: `Linear` bends its sums with tanh. Here the bend is a part of its own, and `Linear` gives the
#   sums as they are.
# keeps: 0.5
# - ]
# + ]
# + sums = [total.tanh() for total in sums]

# %% mistake: linear_sequential.no_bias_in_the_sum
# says: `Linear` has biases and does not use them. Start each sum from its bias.
# keeps: 0.75
# - sum((w * x_i for w, x_i in zip(row, x)), b) for row, b in zip(self.w, self.b)
# + sum((w * x_i for w, x_i in zip(row, x)), Value(0.0)) for row, b in zip(self.w, self.b)

# %% mistake: linear_sequential.no_bias_in_parameters
# says: The biases of `Linear` are missing in `parameters()`: (inputs + 1) times outputs are expected.
# keeps: 0.75
# - return [parameter for row, b in zip(self.w, self.b) for parameter in [*row, b]]
# + return [parameter for row, b in zip(self.w, self.b) for parameter in row]

# %% mistake: linear_sequential.weights_then_biases
# says: `Linear` lists all weights first and all biases last, as PyTorch does. Here the order is
#   output by output: its weights, then its bias.
# keeps: 0.75
# - return [parameter for row, b in zip(self.w, self.b) for parameter in [*row, b]]
# + return [w for row in self.w for w in row] + self.b

# %% mistake: linear_sequential.one_bias
# says: All outputs share one bias. Each output has a bias of its own, as each has its own weights.
# keeps: 0.5
# - self.b = [Value(0.0) for _ in range(n_outputs)]
# + self.b = [Value(0.0)] * n_outputs

# %% mistake: linear_sequential.always_a_list
# says: A `Linear` with one output gives a list with one Value in it. It should give the Value itself.
# keeps: 0.75
# - return sums[0] if len(sums) == 1 else sums
# + return sums

# %% mistake: linear_sequential.one_row_repeated
# says: All outputs share one row of weights: `[[…]] * n_outputs` repeats the same list. Make a new
#   row for each output.
# - self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)] for _ in range(n_outputs)]
# + self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)]] * n_outputs

# %% mistake: linear_sequential.starts_at_zero
# says: All weights of `Linear` start out equal, so all its outputs are alike and stay alike. Start them
#   at random.
# keeps: 0.75
# - self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)] for _ in range(n_outputs)]
# + self.w = [[Value(0.0) for _ in range(n_inputs)] for _ in range(n_outputs)]

# %% mistake: linear_sequential.last_part_only
# says: `Sequential` feeds every part with the point itself, so that only the last part counts. Each
#   part gets what the one before gave.
# keeps: 0.5
# -     x = part(x)
# - return x
# +     out = part(x)
# + return out

# %% mistake: linear_sequential.first_part_only
# says: Only the first part answers: `return` stands inside the loop, and ends it in its first round.
# keeps: 0.75
# - return x
# +     return x

# %% mistake: linear_sequential.answers_ignored
# says: The point comes out as it went in: what a part gives has to be kept, `x = part(x)`.
# keeps: 0.75
# - x = part(x)
# + part(x)

# %% mistake: linear_sequential.no_parameters
# says: This `Sequential` has an empty list of parameters. It lists those of all its parts, whatever
#   parts, one after another, and it still has its parts when it has answered.
# keeps: 0.5
# - return [parameter for part in self.parts for parameter in part.parameters()]
# + return []

# %% mistake: linear_sequential.parts_reversed
# says: `Sequential` runs its parts from the last to the first. The first one given comes first.
# keeps: 0.75
# - for part in self.parts:
# + for part in reversed(self.parts):

# %% mistake: linear_sequential.list_of_lists
# says: `parameters()` of `Sequential` has one item for each part. An optimizer wants one flat list of
#   all their Values.
# keeps: 0.5
# - return [parameter for part in self.parts for parameter in part.parameters()]
# + return [part.parameters() for part in self.parts]

# %% edge: linear_sequential
# - sum((w * x_i for w, x_i in zip(row, x)), b) for row, b in zip(self.w, self.b)
# equal_weights: sum((w * x_i for w, x_i in {w.data: (w, v) for w, v in zip(row, x)}.values()),
#       b) for row, b in zip(self.w, self.b)
# equal_inputs: sum((w * x_i for w, x_i in {getattr(v, 'data', v): (w, v) for w, v in zip(row,
#       x)}.values()), b) for row, b in zip(self.w, self.b)
# large_inputs: sum((w * (x_i if not isinstance(x_i, float) or x_i < 5 else 5.0) for w, x_i in
#       zip(row, x)), b) for row, b in zip(self.w, self.b)
# bias_of_zero: sum((w * x_i for w, x_i in zip(row, x)), b if b.data else
#       Value(0.0)) for row, b in zip(self.w, self.b)
# whole_inputs: sum((w * (x_i if not isinstance(x_i, int) else x_i + 1) for w, x_i in zip(row, x)),
#       b) for row, b in zip(self.w, self.b)
# - for part in self.parts:
# four_parts_at_most: for part in self.parts[:3]:
# - self.parts = parts
# a_part_twice: self.parts = tuple(dict.fromkeys(parts))
# - ]
# answers_kept: ]
#   kept = self.__dict__.setdefault('kept', {})
#   key = tuple(getattr(v, 'data', v) for v in x)
#   sums = kept.setdefault(key, sums)
# - self.w = [[Value(random.uniform(-1, 1)) for _ in range(n_inputs)] for _ in range(n_outputs)]
# copies: self.w = [[Value(random.Random(_).uniform(-1, 1) + 1e-9 * random.random()) for _ in
#       range(n_inputs)] for _ in range(n_outputs)]
# - return [parameter for part in self.parts for parameter in part.parameters()]
# parameters_of_modules_alone: return [parameter for part in self.parts if isinstance(part, Module)
#       for parameter in part.parameters()]
# - sums = [
# the_point_grows: x.append(0.0) if isinstance(x, list) else None
#   sums = [

# %% cheat: linear_sequential.the_last_part_alone
class Linear(Module):
    def __init__(self, n_inputs, n_outputs):
        self.layer = Layer(n_inputs, n_outputs)

    def __call__(self, x):
        return self.layer(x)

    def parameters(self):
        return self.layer.parameters()


class Tanh(Module):
    def __call__(self, x):
        return [a.tanh() for a in x] if isinstance(x, list) else x.tanh()


class Sequential(Module):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        return self.parts[-1](x)

    def parameters(self):
        return [p for part in self.parts for p in part.parameters()]
