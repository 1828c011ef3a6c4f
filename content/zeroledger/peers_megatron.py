"""What Megatron-LM's ``theoretical_memory_usage.py`` prints, formula by formula, to set beside ours.

Source: NVIDIA/Megatron-LM@d98e8a64 megatron/training/theoretical_memory_usage.py (read 2026). It assumes bf16 weights
with fp32 main gradients, knows ZeRO-1 only (the distributed optimizer), and labels MiB as "MB".
"""

from dataclasses import dataclass, fields

from .errors import InvalidInput, check_choice, check_count, check_flag


@dataclass(frozen=True)
class MegatronArgs:
    """The arguments those formulas read, by Megatron's names; sizes are elements. ``None``: Megatron's own default."""

    hidden_size: int
    num_layers: int
    num_attention_heads: int
    padded_vocab_size: int = 51200
    seq_length: int = 2048
    micro_batch_size: int = 1
    ffn_hidden_size: int | None = None  # 4 × hidden_size
    kv_channels: int | None = None  # hidden_size / num_attention_heads
    num_query_groups: int | None = None  # num_attention_heads
    swiglu: bool = False
    normalization: str = "LayerNorm"
    untie_embeddings_and_output_weights: bool = False
    add_bias_linear: bool = False
    num_experts: int | None = None
    moe_layer_pattern: tuple | None = None  # 1 for each mixture layer; None: all, when there are experts
    moe_ffn_hidden_size: int = 0
    moe_shared_expert_intermediate_size: int = 0
    moe_shared_expert_gate: bool = False
    moe_latent_size: int | None = None
    tensor_model_parallel_size: int = 1
    pipeline_model_parallel_size: int = 1
    virtual_pipeline_model_parallel_size: int | None = None
    expert_model_parallel_size: int = 1
    expert_tensor_parallel_size: int | None = None  # tensor_model_parallel_size
    world_size: int | None = None  # tp × pp × dp
    data_parallel_size: int = 1
    use_distributed_optimizer: bool = False

    def __post_init__(self):
        check_choice("normalization", self.normalization, ("LayerNorm", "RMSNorm"))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is bool:
                check_flag(field.name, value)
            elif field.type in (int, int | None) and value is not None:
                smallest = 0 if field.default == 0 else 1
                object.__setattr__(self, field.name, check_count(field.name, value, smallest, 10**9))
        if self.num_layers > 100_000:
            raise InvalidInput("num_layers", self.num_layers, "at most 100,000 layers")
        model_ranks = self.tensor_model_parallel_size * self.pipeline_model_parallel_size
        self._default("ffn_hidden_size", 4 * self.hidden_size)
        self._default("kv_channels", self.hidden_size // self.num_attention_heads)
        self._default("num_query_groups", self.num_attention_heads)
        self._default("expert_tensor_parallel_size", self.tensor_model_parallel_size)
        self._default("world_size", model_ranks * self.data_parallel_size)
        pattern = self.moe_layer_pattern or (1 if self.num_experts else 0,) * self.num_layers
        if len(pattern) != self.num_layers or any(entry not in (0, 1) for entry in pattern):
            raise InvalidInput("moe_layer_pattern", pattern, f"{self.num_layers} entries of 0 or 1, one a layer")
        object.__setattr__(self, "moe_layer_pattern", tuple(pattern))

    def _default(self, name, value):
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    @property
    def norm_size(self):
        """Vectors in a norm: RMSNorm has a weight, LayerNorm a weight and a bias."""
        return 1 if self.normalization == "RMSNorm" else 2


def weight_and_optimizer_bytes(args):
    """Bytes of weights, gradients and optimizer on the most loaded rank, as Megatron computes them (a float).

    18 a parameter, or 6 + 12/d with the distributed optimizer, d being the group that shards: data-parallel for most,
    expert-data-parallel for routed experts. Tensor parallelism divides matrices and leaves norms and routers whole.
    Linear biases are not counted. Odd layers of a pipeline are averaged, hence fractions of parameters.
    """
    tp, pp = args.tensor_model_parallel_size, args.pipeline_model_parallel_size
    expert_ranks = args.expert_tensor_parallel_size * args.expert_model_parallel_size
    cut, whole, experts = _block_params(args)
    embedding = args.hidden_size * args.padded_vocab_size
    tables = 2 if args.untie_embeddings_and_output_weights and pp == 1 else 1
    regular = (cut / pp + embedding * tables) / tp + whole / pp
    routed = experts / pp / expert_ranks
    expert_data_parallel = args.world_size // (expert_ranks * pp)
    if experts and not expert_data_parallel:
        raise InvalidInput("world_size", args.world_size, f"at least expert tp × ep × pp = {expert_ranks * pp}")
    return (regular * _bytes_per_param(args, args.data_parallel_size)
            + routed * _bytes_per_param(args, max(1, expert_data_parallel)))


def activation_bytes(args, num_microbatches=None):
    """Activation bytes on the first pipeline stage with sequence parallelism and *selective* recomputation.

    arXiv:2205.05198 Table 2: (18 + 4·ffn/h)·sbh a layer, for which Megatron does not look at gated MLPs.
    """
    tokens = args.seq_length * args.micro_batch_size
    layers = tokens * args.hidden_size * (18 + 4 * args.ffn_hidden_size / args.hidden_size) * args.num_layers
    total = (layers + _embedding_activations(args)) * _in_flight_factor(args, num_microbatches)
    if args.pipeline_model_parallel_size == 1:
        total += tokens * args.hidden_size * 4 * (1 + args.padded_vocab_size / args.hidden_size)
    return total / args.tensor_model_parallel_size


def activation_bytes_without_sp(args, num_microbatches=None):
    """Activation bytes of the other path: sbh(10 + 24/t) a layer and 5% on top.

    The 5as/h term of arXiv:2205.05198 is missing there, so it holds for flash attention at best.
    """
    tp = args.tensor_model_parallel_size
    tokens = args.seq_length * args.micro_batch_size
    layers = tokens * args.hidden_size * (10 + 24 / tp) * args.num_layers
    total = (layers + _embedding_activations(args)) * _in_flight_factor(args, num_microbatches)
    if args.pipeline_model_parallel_size == 1:
        total += 2 * tokens * (args.padded_vocab_size / tp + args.hidden_size)
    return total * 1.05


def _bytes_per_param(args, sharding_ranks):
    return 6 + 12 / sharding_ranks if args.use_distributed_optimizer else 18


def _block_params(args):
    """Parameters of all layers: (cut by tensor parallelism, replicated, routed experts)."""
    hidden, gate = args.hidden_size, 1.5 if args.swiglu else 1
    moe_layers = sum(args.moe_layer_pattern)
    query = args.kv_channels * args.num_attention_heads
    attention = 2 * hidden * query * (1 + args.num_query_groups / args.num_attention_heads)
    dense_mlp = 2 * hidden * args.ffn_hidden_size * gate
    shared = 2 * hidden * args.moe_shared_expert_intermediate_size * gate
    cut = attention * args.num_layers + dense_mlp * (args.num_layers - moe_layers) + shared * moe_layers
    whole = args.norm_size * hidden * (2 * args.num_layers + 1) + _router_params(args) * moe_layers
    routed = 2 * (args.moe_latent_size or hidden) * args.moe_ffn_hidden_size * (args.num_experts or 0) * gate
    return cut, whole, routed * moe_layers


def _router_params(args):
    """Router, shared-expert gate and latent projections of one mixture layer."""
    experts = args.num_experts or 0
    router = args.hidden_size * experts + (experts if args.add_bias_linear else 0)
    gate = args.hidden_size if args.moe_shared_expert_gate and args.moe_shared_expert_intermediate_size else 0
    return router + gate + 2 * args.hidden_size * (args.moe_latent_size or 0)


def _embedding_activations(args):
    """Token indices (8 bytes) and the dropout mask after the embedding, for every micro-batch in flight."""
    tokens = args.seq_length * args.micro_batch_size * args.pipeline_model_parallel_size
    return 8 * tokens + tokens * args.hidden_size


def _in_flight_factor(args, num_microbatches):
    """More than 1 with interleaved stages, less where fewer micro-batches than stages run."""
    pp, virtual = args.pipeline_model_parallel_size, args.virtual_pipeline_model_parallel_size
    if virtual is not None:
        return 1 + (pp - 1) / (pp * virtual)
    if pp > 1 and num_microbatches is not None:
        return min(1, check_count("num_microbatches", num_microbatches) / pp)
    return 1
