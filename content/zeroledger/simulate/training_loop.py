"""The training loop: one optimizer step of ZeRO on every rank. Read it from the bottom up, change it, run it again.

``ranks`` holds all virtual ranks; each of its verbs acts on every rank and writes what it did to the log, together with
the line of this file that asked for it. ``simulate(…, train_step=your_own)`` runs your version of ``train_step``.
"""


def forward(ranks, batch):
    """Load a micro-batch and compute the loss, layer by layer."""
    ranks.load(batch)
    for layer in ranks.layers:
        ranks.enter("forward", layer)
        gather(ranks, layer, ranks.layers_after(layer))
        ranks.forward(layer)
        ranks.drop(layer)  # what recomputation will bring back
        release(ranks, layer)
    ranks.loss()


def backward(ranks, last_micro_batch):
    """Gradients, layer by layer from the last; full buckets of them are reduced on the way."""
    for layer in reversed(ranks.layers):
        ranks.enter("backward", layer)
        gather(ranks, layer, ranks.layers_before(layer))
        ranks.recompute(layer)
        # Stages 0 and 1 keep whole gradients and reduce once a step; stages 2 and 3 cannot wait.
        reduces = ranks.stage >= 2 or last_micro_batch
        if reduces and ranks.bucket_would_overflow(layer):
            reduce_bucket(ranks)
        ranks.backward(layer)
        release(ranks, layer)
        if reduces:
            ranks.bucket.append(layer)
    if ranks.bucket:
        reduce_bucket(ranks)
    ranks.wait_for_reduction()


def gather(ranks, layer, coming):
    """Stage 3: make the layer's weights whole, and start on those that are needed next."""
    if ranks.stage == 3:
        ranks.all_gather(layer)
        for next_layer in coming[:ranks.prefetch_depth]:
            ranks.all_gather(next_layer, early=True)
        ranks.wait_for_gather(layer)


def release(ranks, layer):
    """Stage 3: each rank keeps only its own piece of the layer."""
    if ranks.stage == 3:
        ranks.release(layer)


def reduce_bucket(ranks):
    """Add up the ranks' gradients of the layers in the bucket."""
    ranks.wait_for_reduction()  # of the bucket before: only one is on its way at a time
    if ranks.stage == 0:
        ranks.all_reduce(ranks.bucket)  # every rank gets the whole sum
    else:
        ranks.reduce_scatter(ranks.bucket)  # every rank gets its own piece of the sum
    ranks.bucket = []


def optimizer_step(ranks):
    """Each rank updates what it holds optimizer states for; stages 1 and 2 then share the new weights."""
    for layer in ranks.layers:
        ranks.enter("step", layer)
        ranks.adam(layer)
        if ranks.stage in (1, 2):
            ranks.all_gather_updated(layer)
    ranks.wait_for_all()  # before the next forward


def train_step(ranks, micro_batches):
    """One step on ``micro_batches``, each a list of samples for every rank."""
    ranks.zero_grads()
    for number, batch in enumerate(micro_batches):
        ranks.enter_micro_batch(number)
        forward(ranks, batch)
        backward(ranks, last_micro_batch=number == len(micro_batches) - 1)
    optimizer_step(ranks)
