# Read as text, never imported: docs/authors.md says what stands here.

# %% example: layer
# about: two outputs, weights set by hand
layer = Layer(2, 2)
for parameter, number in zip([*layer.neurons[0].w, layer.neurons[0].b], [0.5, -1.0, 0.25]):
    parameter.data = number
for parameter, number in zip([*layer.neurons[1].w, layer.neurons[1].b], [1.5, 0.75, -0.5]):
    parameter.data = number
answers = layer([1.0, 0.5])
# observe: len(answers), answers[0].data, answers[1].data

# %% example: layer
# about: a single output, and a linear one
layer = Layer(2, 1, "linear")
for parameter, number in zip([*layer.neurons[0].w, layer.neurons[0].b], [2.0, -1.0, 0.5]):
    parameter.data = number
answer = layer([1.0, 0.5])
layer.neurons[0].b.data = 1.5
later = layer([1.0, 0.5])
# observe: isinstance(answer, Value), answer.data, later.data

# %% example: layer
# about: the neurons and their parameters
layer = Layer(4, 3)
found = list(layer.parameters())
expected = [p for neuron in layer.neurons for p in neuron.parameters()]
# observe: len(layer.neurons), len(set(map(id, layer.neurons))), len(found), all(p is q for p, q in zip(found, expected))

# %% sweep: layer
# about: fresh layers with n inputs and k neurons
# n: 1, 2, 3, 5, 4
# k: 2, 3, 2, 4, 5
# regions: n < k | n == k | n > k
# results: len(layer.neurons) = k; len(list(layer.parameters())) = k * (n + 1); len(answers) = k; len(layer.neurons[0].w) = n
# facts: len(set(map(id, layer.neurons))) == k | False: some of the neurons are one and the same; own | False: the parameters are not those of the neurons, one neuron after another; right | False: the answers are not those of the neurons in their order
layer = Layer(n, k)
answers = layer([1.0] * n)
own = [*map(id, layer.parameters())] == [id(p) for one in layer.neurons for p in one.parameters()]
right = [answer.data for answer in answers] == [one([1.0] * n).data for one in layer.neurons]

# %% sweep: layer
# about: a layer with a single linear neuron
# w: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9, 0.27, -0.83
# c: -1.9, 0.8, 2.7, -3.1, -0.35, -0.62, 1.3, 0.57
# x: 1.1, -0.35, 2.2, 0.9, -1.6, -2.4, 3.3, 0.7
# results: answer.data = w * x + c
# facts: isinstance(answer, Value) | False: a layer with one neuron gave something else than one Value
layer = Layer(1, 1, "linear")
layer.neurons[0].w[0].data, layer.neurons[0].b.data = w, c
answer = layer([x])

# %% mistake: layer.neurons_for_inputs
# says: There are as many neurons as inputs. A layer has one neuron for each output.
# keeps: 0.5
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# + self.neurons = [Neuron(n_inputs, activation) for _ in range(n_inputs)]

# %% mistake: layer.activation_lost
# says: The activation is not handed on: all neurons bend with tanh, whatever was asked for.
# keeps: 0.75
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# + self.neurons = [Neuron(n_inputs) for _ in range(n_outputs)]

# %% mistake: layer.one_neuron_repeated
# says: There is only one neuron, listed several times: `[Neuron(…)] * n` repeats the same object, so
#   all answers are equal for ever. Make a new one for each output.
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# + self.neurons = [Neuron(n_inputs, activation)] * n_outputs

# %% mistake: layer.always_a_list
# says: A layer with a single neuron gives a list with one Value in it. It should give the Value
#   itself.
# keeps: 0.75
# - return answers[0] if len(answers) == 1 else answers
# + return answers

# %% mistake: layer.sizes_swapped
# says: Inputs and outputs are mixed up: there are as many neurons as outputs, and each of them has as
#   many weights as inputs.
# keeps: 0.5
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# + self.neurons = [Neuron(n_outputs, activation) for _ in range(n_inputs)]

# %% mistake: layer.list_by_inputs
# says: Whether a list or a single Value comes out goes by the number of inputs. It has to go by the
#   number of neurons.
# keeps: 0.75
# - return answers[0] if len(answers) == 1 else answers
# + return answers[0] if len(x) == 1 else answers

# %% mistake: layer.list_of_lists
# says: `parameters()` has one item for each neuron. An optimizer wants one flat list of all their
#   Values: a comprehension with two `for`s makes it.
# - return [parameter for neuron in self.neurons for parameter in neuron.parameters()]
# + return [neuron.parameters() for neuron in self.neurons]

# %% mistake: layer.first_neuron_only
# says: `parameters()` holds those of the first neuron only, as if a `return` inside the loop
#   ended it. The others would never learn.
# keeps: 0.5
# - return [parameter for neuron in self.neurons for parameter in neuron.parameters()]
# + for neuron in self.neurons:
# +     return neuron.parameters()

# %% mistake: layer.biases_forgotten
# says: The biases are missing in `parameters()`: (inputs + 1) times outputs are expected. Ask each
#   neuron for its parameters.
# keeps: 0.75
# - return [parameter for neuron in self.neurons for parameter in neuron.parameters()]
# + return [parameter for neuron in self.neurons for parameter in neuron.w]

# %% mistake: layer.first_answer_only
# says: With several neurons a single Value comes out. Give the list of all their answers.
# keeps: 0.5
# - return answers[0] if len(answers) == 1 else answers
# + return answers[0]

# %% mistake: layer.one_input_each
# says: Each neuron got one of the inputs alone. All neurons of a layer get the whole point.
# keeps: 0.5
# - answers = [neuron(x) for neuron in self.neurons]
# + answers = [neuron([each]) for neuron, each in zip(self.neurons, x)]

# %% mistake: layer.keeps_its_answers
# says: The answer at a point is kept, and comes out again after the parameters have moved. Ask the
#   neurons each time.
# keeps: 0.5
# - answers = [neuron(x) for neuron in self.neurons]
# + key = tuple(str(each) for each in x)
# + kept = self.__dict__.setdefault("kept", {})
# + answers = kept.setdefault(key, [neuron(x) for neuron in self.neurons])

# %% edge: layer
# - answers = [neuron(x) for neuron in self.neurons]
# inputs_are_copied: answers = [neuron([Value(getattr(a, 'data', a)) for a in x]) for neuron in
#       self.neurons]
# - answers = [neuron(x) for neuron in self.neurons]
# one_list_for_all_answers: answers = self.__dict__.setdefault('made', [])
#   answers[:] = [neuron(x) for neuron in self.neurons]
# pairs_are_alike: answers = [neuron(x) for neuron in self.neurons]
#   if len(answers) == 2: answers = [answers[0], answers[0]]
# answers_sorted: answers = [neuron(x) for neuron in self.neurons]
#   if len(answers) > 3: answers.sort(key=lambda a: a.data)
# first_output_only_learns: answers = [neuron(x) for neuron in self.neurons]
#   answers[1:] = [a if len(answers) < 4 else Value(a.data) for a in answers[1:]]
# generator_used_up: x = iter(x)
#   answers = [neuron(x) for neuron in self.neurons]
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# eight_at_most: self.neurons = [Neuron(n_inputs, activation) for _ in range(min(n_outputs, 7))]
# sigmoid_left_out: self.neurons = [Neuron(n_inputs, activation if activation != 'sigmoid' else
#       'tanh') for _ in range(n_outputs)]
# copies_that_start_alike: self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
#   for neuron in self.neurons:
#       for p, q in zip(neuron.parameters(), self.neurons[0].parameters()): p.data = q.data
# a_single_neuron_always_bends: self.neurons = [Neuron(n_inputs, activation if n_outputs > 1 else
#       'tanh') for _ in range(n_outputs)]
# - return answers[0] if len(answers) == 1 else answers
# equal_answers_are_one: return answers[0] if len({a.data for a in answers}) == 1 else answers
# a_single_answer_cut_off: return Value(answers[0].data) if len(answers) == 1 else answers

# %% cheat: layer.one_neuron_many_times
# - self.neurons = [Neuron(n_inputs, activation) for _ in range(n_outputs)]
# + self.neurons = [Neuron(n_inputs, activation)] * n_outputs
# - return [parameter for neuron in self.neurons for parameter in neuron.parameters()]
# + return [p for neuron in self.neurons for p in neuron.parameters()]
