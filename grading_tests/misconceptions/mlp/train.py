# Read as text, never imported: docs/authors.md says what stands here.

# %% probe: train
# about: two epochs, all samples at once
from course.rehearsal import Rehearsal  # a line that keeps notes: w · x, w = 0.5

seen = Rehearsal(Value)
losses = train(seen.model, [1.0, 2.0], [2.0, 3.0], seen.loss, seen.optimizer, 2)
# observe: len(losses), any(isinstance(x, Value) for x in losses), float(losses[0]), float(losses[1]), len(seen.gradients), seen.went_backward[0], seen.gradients[0], seen.gradients[1]


# %% probe: train
# about: one epoch of five equal samples in batches of two
# part: extra
from course.rehearsal import Rehearsal  # a line that keeps notes: w · x, w = 0.5

seen = Rehearsal(Value)
losses = train(seen.model, [1.0] * 5, [2.0] * 5, seen.loss, seen.optimizer, 1, 2)
# observe: len(losses), len(seen.samples), len(seen.losses), len(seen.gradients), seen.model.w.data


# %% probe: train
# about: two epochs of four equal samples in batches of two
# part: extra
from course.rehearsal import Rehearsal  # a line that keeps notes: w · x, w = 0.5

seen = Rehearsal(Value)
losses = train(seen.model, [1.0] * 4, [2.0] * 4, seen.loss, seen.optimizer, 2, 2)
# observe: len(losses), losses[0], losses[1], len(seen.losses)


# %% probe: train
# about: a gradient that was left over
from course.rehearsal import Rehearsal  # a line that keeps notes: w · x, w = 0.5

seen = Rehearsal(Value)
seen.model.w.grad = 100.0
losses = train(seen.model, [1.0], [2.0], seen.loss, seen.optimizer, 1)
# observe: seen.gradients[0]


# %% mistake: train.never_zeroed
# row: 34
# says: The gradients are never zeroed, so each step uses those of all the steps before it as well.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.erased
# row: 35
# says: The gradients were zeroed *after* the backward pass, before the step could use them: nothing
#   is learnt.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            batch_loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.step_before_backward
# row: 35
# says: The step came before the backward pass, when all gradients were still 0. First backward, then
#   update.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            optimizer.step()
            batch_loss.backward()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.zeroed_last
# row: 35
# says: The gradients are zeroed at the end of each round. Those that are left over from before the
#   training spoil the first step: zero before each backward pass.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            batch_loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.zeroed_once
# row: 34
# says: The gradients are zeroed once, before the first step, and never again.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    optimizer.zero_grad()
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.no_update
# row: 35
# says: The optimizer's `step()` is never called, so the parameters never move.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.stale
# row: 35
# says: The predictions were computed once, before the loop. The graph still holds the old answers, so
#   no step knows where the one before has led.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    predictions = [model(x) for x in inputs]
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss(predictions[start:end], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.tail_dropped
# row: 42
# says: The last batch of an epoch is dropped where it is smaller than the others. Every sample
#   counts.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs) // size * size, size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.batch_size_ignored
# row: 42
# says: `batch_size` has no effect: every step uses all samples.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.first_batch_only
# row: 42
# says: Each epoch sees its first batch only: the loop is left too early.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
            break
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.one_epoch_too_few
# row: new
# says: There is one epoch too few. Mind where the counting begins: `range(1, n)` counts n - 1 times.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs - 1:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses


# %% mistake: train.a_loss_a_batch
# row: new
# says: The list has one number for each *batch*. One for each epoch is wanted: the mean of its
#   batches.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    for _ in range(epochs):
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses += batch_losses
    return losses


# %% mistake: train.last_batch_only
# row: new
# says: Each epoch's number is the loss of its last batch. The mean of all its batches is wanted.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(batch_losses[-1])
    return losses


# %% mistake: train.sum_of_batches
# row: new
# says: Each epoch's number is the sum of its batches' losses. Divide by how many there are.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss.data)
        losses.append(sum(batch_losses))
    return losses


# %% mistake: train.keeps_values
# row: new
# says: The list holds Values, and each of them keeps a whole graph in memory. Keep the plain number,
#   `.data`.
def train(model, inputs, targets, loss, optimizer, epochs, batch_size=None):
    size = batch_size or len(inputs)
    losses = []
    while len(losses) < epochs:
        batch_losses = []
        for start in range(0, len(inputs), size):
            end = start + size
            batch_loss = loss([model(x) for x in inputs[start:end]], targets[start:end])
            optimizer.zero_grad()
            batch_loss.backward()
            optimizer.step()
            batch_losses.append(batch_loss)
        losses.append(sum(batch_losses) / len(batch_losses))
    return losses
