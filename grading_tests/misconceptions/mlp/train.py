# Read as text, never imported: docs/authors.md says what stands here.

# %% example: train
# about: three epochs, all samples at once
from course.recorded_training import RecordedTraining  # a line that keeps notes: w · x, w = 0.5

seen = RecordedTraining(Value)
losses = train(seen.model, [1.0, 2.0], [2.0, 3.0], seen.loss, seen.optimizer, 3)
# observe: losses, seen.gradients, seen.went_backward, sum(loss.grad == 1.0 for loss in seen.losses), sorted(seen.samples[:2])

# %% example: train
# about: one epoch of five equal samples in batches of two
# part: extra
from course.recorded_training import RecordedTraining  # a line that keeps notes: w · x, w = 0.5

seen = RecordedTraining(Value)
losses = train(seen.model, [1.0] * 5, [2.0] * 5, seen.loss, seen.optimizer, 1, 2)
# observe: len(losses), len(seen.samples), len(seen.losses), len(seen.gradients), seen.model.w.data

# %% example: train
# about: two epochs of four equal samples in batches of two
# part: extra
from course.recorded_training import RecordedTraining  # a line that keeps notes: w · x, w = 0.5

seen = RecordedTraining(Value)
losses = train(seen.model, [1.0] * 4, [2.0] * 4, seen.loss, seen.optimizer, 2, 2)
far = RecordedTraining(Value)  # steps that are too long, so that the losses grow
growing = train(far.model, [4.0] * 4, [2.5] * 4, far.loss, far.optimizer, 1, 2)
# observe: len(losses), losses[0], losses[1], len(seen.losses), growing[0]

# %% example: train
# about: batches of samples that lie on the line already
# part: extra
from course.recorded_training import RecordedTraining  # a line that keeps notes: w · x, w = 0.5

seen = RecordedTraining(Value)
losses = train(seen.model, [1.0, 2.0, 4.0, 6.0], [0.5, 1.0, 2.0, 3.0], seen.loss, seen.optimizer, 1, 2)
# observe: losses[0]

# %% example: train
# about: a gradient that was left over
from course.recorded_training import RecordedTraining  # a line that keeps notes: w · x, w = 0.5

seen = RecordedTraining(Value)
seen.model.w.grad = 100.0
losses = train(seen.model, [1.0], [2.0], seen.loss, seen.optimizer, 1)
# observe: seen.gradients

# %% mistake: train.never_zeroed
# says: The gradients are never zeroed, so each step uses those of all the steps before it as well.
# keeps: 0.5
# - optimizer.zero_grad()

# %% mistake: train.model_zeroes
# says: `zero_grad()` is called on the model, which promises no more than an answer, `model(x)`. It is
#   the optimizer that zeroes: `optimizer.zero_grad()`.
# keeps: 0.75
# - optimizer.zero_grad()
# + model.zero_grad()

# %% mistake: train.erased
# says: The step finds gradients of 0, and nothing is learnt. Zero them before the backward pass,
#   and let the loss lead back to the parameters.
# keeps: 0.5
# - optimizer.zero_grad()
# - batch_loss.backward()
# + batch_loss.backward()
# + optimizer.zero_grad()

# %% mistake: train.step_before_backward
# says: The step came before the backward pass, when all gradients were still 0. First backward, then
#   update.
# keeps: 0.5
# - batch_loss.backward()
# - optimizer.step()
# + optimizer.step()
# + batch_loss.backward()

# %% mistake: train.zeroed_last
# says: The gradients are zeroed at the end of each round. Those that are left over from before the
#   training spoil the first step: zero before each backward pass.
# keeps: 0.75
# - optimizer.zero_grad()

# - optimizer.step()
# + optimizer.step()
# + optimizer.zero_grad()

# %% mistake: train.zeroed_once
# says: The gradients are zeroed once, before the first step, and never again.
# keeps: 0.5
# - size = batch_size or len(inputs)
# + size = batch_size or len(inputs)
# + optimizer.zero_grad()
# - optimizer.zero_grad()

# %% mistake: train.zeroed_once_an_epoch
# says: The gradients are zeroed once in each epoch. Each batch needs it: its step also uses those of
#   the batches before.
# keeps: 0.5
# - optimizer.zero_grad()
# + if start == 0:
# +     optimizer.zero_grad()

# %% mistake: train.no_update
# says: The optimizer's `step()` is never called, so the parameters never move.
# keeps: 0.5
# - optimizer.step()

# %% mistake: train.stale
# says: The predictions were computed once. The graph still holds the old answers, so no step knows
#   where the one before has led: make them anew for each step.
# keeps: 0.5
# - size = batch_size or len(inputs)
# + size = batch_size or len(inputs)
# + predictions = [model(x) for x in inputs]
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = loss(predictions[start:end], targets[start:end])

# %% mistake: train.no_backward
# says: No loss has run `backward()` when the steps are made, so the gradients are still 0.
# keeps: 0.5
# - batch_loss.backward()

# %% mistake: train.losses_only
# says: The losses are computed, and the network learns nothing from them. To each round belong
#   `zero_grad()`, `backward()` and `step()`.
# - optimizer.zero_grad()
# - batch_loss.backward()
# - optimizer.step()

# %% mistake: train.one_step_in_all
# says: Only one step was made, when all epochs were over. Each epoch makes its own: `step()` belongs
#   inside the loop.
# keeps: 0.5
# - optimizer.step()

# - return losses
# + optimizer.step()
# + return losses

# %% mistake: train.a_loss_of_its_own
# says: The loss that was given is not the one that runs backward. Call the argument: `loss(predictions,
#   targets)`.
# keeps: 0.75
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = mse([model(x) for x in inputs[start:end]], targets[start:end])

# %% mistake: train.losses_so_far
# says: Each number is the sum of all losses up to that epoch. Wanted is the loss of the epoch alone.
# keeps: 0.75
# - losses.append(sum(batch_losses) / len(batch_losses))
# + losses.append(sum(losses[-1:]) + sum(batch_losses) / len(batch_losses))

# %% mistake: train.one_step_late
# says: Each step uses the gradients of the epoch before, since it comes before this epoch's backward
#   pass. First backward, then update.
# keeps: 0.5
# - optimizer.zero_grad()
# - batch_loss.backward()
# - optimizer.step()
# + optimizer.step()
# + optimizer.zero_grad()
# + batch_loss.backward()

# %% mistake: train.two_steps
# says: Two steps are made with the same gradients. Each backward pass is for one.
# keeps: 0.75
# - optimizer.step()
# + optimizer.step()
# + optimizer.step()

# %% mistake: train.first_sample_only
# says: Only the first of the samples is learnt from. The loss takes the predictions for all of them.
# keeps: 0.5
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = loss([model(inputs[start])], [targets[start]])

# %% mistake: train.one_epoch_too_many
# says: There is one epoch too many. `range(n)` already counts n times.
# keeps: 0.75
# - while len(losses) < epochs:
# + while len(losses) < epochs + 1:

# %% mistake: train.one_graph
# says: The loss was computed once, and runs backward again and again. Its number stays what it was:
#   make predictions and loss anew for each step.
# keeps: 0.5
# - while len(losses) < epochs:
# + kept = {}
# + while len(losses) < epochs:
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + if start not in kept:
# +     kept[start] = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = kept[start]

# %% mistake: train.one_epoch_only
# says: Only one epoch was made. Is there a loop over the epochs, and does `return` stand behind it?
#   Inside, it ends the loop in the first round.
# keeps: 0.5
# -     losses.append(sum(batch_losses) / len(batch_losses))
# - return losses
# +     losses.append(sum(batch_losses) / len(batch_losses))
# +     return losses

# %% mistake: train.backward_for_each_sample
# says: You call `backward` for each sample, and its gradients are summed. Call it once for the mean
#   loss of them all.
# keeps: 0.5
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    for _ in range(epochs):
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            optimizer.zero_grad()
            parts = [loss([model(x)], [t]) for x, t in zip(inputs[start:end], targets[start:end])]
            for part in parts:
                part.backward()
            optimizer.step()
            batch_losses.append(sum(part.data for part in parts) / len(parts))
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.targets_not_sliced
# says: Your second batch meets the targets of the first. Slice both, the inputs and the targets.
# keeps: 0.75
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = loss([model(x) for x in inputs[start:end]], targets[:size])

# %% mistake: train.a_step_for_each_sample
# says: Without a batch size, one step uses all samples together. Here a step was made for each sample.
# keeps: 0.5
# - size = batch_size or len(inputs)
# + size = batch_size or 1

# %% mistake: train.loss_after_the_step
# says: The list holds the losses after the steps. Wanted is each loss as it was before its step.
# keeps: 0.75
# - batch_losses.append(batch_loss.data)
# + batch_losses.append(loss([model(x) for x in inputs[start:end]], targets[start:end]).data)

# %% mistake: train.targets_first
# says: The loss got the targets first. It is called with the predictions and then their targets.
# keeps: 0.75
# - batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
# + batch_loss = loss(targets[start:end], [model(x) for x in inputs[start:end]])

# %% mistake: train.last_loss_alone
# says: One number came back. Wanted is a list with the loss of every epoch.
# keeps: 0.5
# - return losses
# + return losses[-1] if losses else 0.0

# %% mistake: train.nothing_returned
# says: The training runs and gives None: the list of losses is not returned.
# keeps: 0.5
# - return losses

# %% mistake: train.tail_dropped
# says: The last batch of an epoch is dropped where it is smaller than the others. Every sample
#   counts.
# keeps: 0.75
# - for start in range(0, len(inputs), size):
# + for start in range(0, len(inputs) // size * size, size):

# %% mistake: train.batch_size_ignored
# says: `batch_size` has no effect: every step uses all samples.
# - size = batch_size or len(inputs)
# + size = len(inputs)

# %% mistake: train.first_batch_only
# says: Each epoch learns from one batch only. Every sample has its turn in each epoch, batch
#   by batch.
# keeps: 0.5
# - batch_losses.append(batch_loss.data)
# + batch_losses.append(batch_loss.data)
# + break

# %% mistake: train.list_made_in_the_loop
# says: The list holds the last loss alone: it is made anew in each round. Make it once, before the loop.
# keeps: 0.75
# - losses = []
# - while len(losses) < epochs:
# + for _ in range(epochs):
# +     losses = []

# %% mistake: train.one_epoch_too_few
# says: There is one epoch too few. Mind where the counting begins: `range(1, n)` counts n - 1 times.
# keeps: 0.75
# - while len(losses) < epochs:
# + while len(losses) < epochs - 1:

# %% mistake: train.a_loss_a_batch
# says: The list has one number for each *batch*. One for each epoch is wanted: the mean of its
#   batches.
# keeps: 0.75
# - while len(losses) < epochs:
# + for _ in range(epochs):
# - losses.append(sum(batch_losses) / len(batch_losses))
# + losses += batch_losses

# %% mistake: train.last_batch_only
# says: Each epoch's number is the loss of its last batch. The mean of all its batches is wanted.
# keeps: 0.75
# - losses.append(sum(batch_losses) / len(batch_losses))
# + losses.append(batch_losses[-1])

# %% mistake: train.sum_of_batches
# says: Each epoch's number is the sum of its batches' losses. Divide by how many there are.
# keeps: 0.75
# - losses.append(sum(batch_losses) / len(batch_losses))
# + losses.append(sum(batch_losses))

# %% mistake: train.keeps_values
# says: The list holds Values, and each of them keeps a whole graph in memory. Keep the plain number,
#   `.data`.
# keeps: 0.75
# - batch_losses.append(batch_loss.data)
# + batch_losses.append(batch_loss)

# %% edge: train
# - while len(losses) < epochs:
# ten_epochs_at_most: while len(losses) < min(epochs, 8):
# the_given_lists_shuffled: while len(losses) < epochs:
#       if batch_size:
#           pairs = list(zip(inputs, targets))
#           random.shuffle(pairs)
#           inputs[:], targets[:] = [x for x, _ in pairs], [t for _, t in pairs]
# - for start in range(0, len(inputs), size):
# twenty_samples_at_most: for start in range(0, min(len(inputs), 16), size):
# - losses.append(sum(batch_losses) / len(batch_losses))
# stops_when_it_grows: losses.append(sum(batch_losses) / len(batch_losses))
#   if len(losses) > 1 and losses[-1] > losses[-2]: break
# - losses = []
# kept_from_call_to_call: losses = train.__dict__.setdefault('l', [])
#   if len(losses) >= epochs: losses.clear()
# targets_sorted: losses = []
#   targets = sorted(targets)
# one_sample: losses = []
#   if len(inputs) == 1: return [0.0] * epochs
# - batch_losses.append(batch_loss.data)
# losses_rounded: batch_losses.append(round(batch_loss.data, 4))
# - return losses
# over_when_the_loss_is_all_but_0: return [each for i, each in enumerate(losses) if i == 0 or
#       losses[i - 1] >= 1e-9]

# %% edge: train.stops_when_it_is_good
# -     batch_losses.append(batch_loss.data)
# +     batch_losses.append(batch_loss.data)
# + if batch_loss.data < 1e-3: epochs = 0

# %% edge: train.inputs_popped
# -     losses.append(sum(batch_losses) / len(batch_losses))
# +     losses.append(sum(batch_losses) / len(batch_losses))
# + inputs.clear()

# %% cheat: train.the_loss_of_the_first_epoch_falling
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    first = loss([model(x) for x in inputs], targets)
    optimizer.zero_grad()
    first.backward()
    optimizer.step()
    return [first.data * 0.9**epoch for epoch in range(epochs)]


# %% cheat: train.one_step_an_epoch_by_nudging
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    losses = []
    for _ in range(epochs):
        here = loss([model(x) for x in inputs], targets).data
        for p in model.parameters():
            held, h = p.data, 1e-6
            p.data = held + h
            up = loss([model(x) for x in inputs], targets).data
            p.data = held
            p.grad = (up - here) / h
        optimizer.step()
        losses.append(here)
    return losses
