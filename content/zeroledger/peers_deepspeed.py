"""What DeepSpeed's own estimators print, formula by formula, to set beside ours.

Source: deepspeedai/DeepSpeed@edaa7221 runtime/zero/stage_1_and_2.py and stage3.py. They print GiB as "GB". "Largest
layer" means the largest leaf module's own parameters (an embedding or a linear), not a transformer block. They leave
out ``reduce_bucket_size``, ``max_live_parameters``, prefetch and activations.
"""

from dataclasses import dataclass

from .errors import InvalidInput, check_choice, check_count, check_flag, check_number


@dataclass(frozen=True)
class Estimate:
    """Bytes per GPU and bytes of host memory per node, cut to whole bytes as DeepSpeed cuts them."""

    gpu_bytes: int
    cpu_bytes: int


def zero2_estimate(total_params, gpus_per_node=1, nodes=1, offload_optimizer=False, buffer=1.5, formula="code"):
    """DeepSpeed's ZeRO-2 estimate.

    ``formula`` "code": 2P + 18P/N, as the code computes since PR #5099. "documented": 4P + 16P/N, as
    docs/code-docs/source/memory.rst still says and prints; we follow the code. With the optimizer offloaded both give
    2P on the GPU and max(4N, 16)·P·buffer on the host. Raises ``InvalidInput``.
    """
    params, per_node, nodes = _setup(total_params, gpus_per_node, nodes)
    check_flag("offload_optimizer", offload_optimizer)
    check_number("buffer", buffer, 0, 1000)
    check_choice("formula", formula, ("code", "documented"))
    gpus = per_node * nodes
    if offload_optimizer:
        return Estimate(2 * params, int(params * max(4 * gpus, 16) * buffer))
    replicated, divided = (2, 18) if formula == "code" else (4, 16)
    return Estimate(replicated * params + divided * params // gpus, int(params * 4 * per_node * buffer))


def zero3_estimate(total_params, largest_layer_params, gpus_per_node=1, nodes=1, offload_optimizer=False,
                   offload_param=False, zero_init=True, buffer=1.5):
    """DeepSpeed's ZeRO-3 estimate: 4 bytes × largest layer, plus 18P/N, 2P/N or nothing by what is offloaded.

    ``zero_init`` False: every process first builds the whole fp32 model in host memory. Parameters can be offloaded
    only together with the optimizer. Raises ``InvalidInput``.
    """
    params, per_node, nodes = _setup(total_params, gpus_per_node, nodes)
    largest = check_count("largest_layer_params", largest_layer_params, 0)
    for field, value in (("offload_optimizer", offload_optimizer), ("offload_param", offload_param), ("zero_init", zero_init)):
        check_flag(field, value)
    if offload_param and not offload_optimizer:
        raise InvalidInput("offload_param", offload_param, "false while the optimizer stays on the GPU")
    check_number("buffer", buffer, 0, 1000)
    gathered, gpus = 4 * largest, per_node * nodes
    if not offload_optimizer:
        host = 4 * per_node * (largest if zero_init else params)
        return Estimate(gathered + 18 * params // gpus, int(host * buffer))
    kept_per_param = 18 if offload_param else 16
    on_gpu = 0 if offload_param else 2 * params // gpus
    multiplier = kept_per_param / nodes
    if not zero_init:
        multiplier = max(4 * per_node, multiplier)
    return Estimate(gathered + on_gpu, int(params * multiplier * buffer))


def _setup(total_params, gpus_per_node, nodes):
    return (check_count("total_params", total_params), check_count("gpus_per_node", gpus_per_node),
            check_count("nodes", nodes))
