"""Parallel layouts: what each degree divides, and errors that name both numbers."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from zeroledger import PRESETS, RECIPES, TransformerShape, ledger
from zeroledger.capacity import max_model_params
from zeroledger.errors import InvalidInput, MeshError
from zeroledger.mesh import Mesh, rank_numel, rank_tensors, stage_layers
from zeroledger.mesh_states import fullest_stage, mesh_ledger, mesh_states_bytes
from zeroledger.peers_megatron import MegatronArgs, weight_and_optimizer_bytes

LLAMA, LLAMA_70B, MIXTRAL, GPT2 = (PRESETS[name].model for name in ("llama-2-7b", "llama-2-70b", "mixtral-8x7b", "gpt2-xl"))
POWERS = st.sampled_from([1, 2, 4, 8])


def test_one_rank_holds_the_model():
    for model in (LLAMA, MIXTRAL, GPT2):
        assert sum(rank_numel(model, Mesh())) == model.num_params
        assert [tensor.shape for tensor in rank_tensors(model, Mesh())] == [tensor.shape for tensor in model.tensors()]


def test_world_size_and_groups():
    mesh = Mesh(dp=4, tp=2, pp=3, cp=2, ep=4, etp=1)
    assert mesh.world_size == 48
    assert mesh.dense_shards == 8
    assert mesh.expert_shards == 4
    assert mesh.expert_shards * mesh.ep * mesh.etp * mesh.pp == mesh.world_size


def test_tensor_parallelism_leaves_norms_whole():
    tensors = {tensor.name: tensor.shape for tensor in rank_tensors(LLAMA, Mesh(tp=8))}
    assert tensors["model.layers.0.self_attn.q_proj.weight"] == (512, 4096)
    assert tensors["model.layers.0.self_attn.o_proj.weight"] == (4096, 512)
    assert tensors["model.layers.0.mlp.down_proj.weight"] == (4096, 1376)
    assert tensors["model.embed_tokens.weight"] == (4000, 4096)
    assert tensors["model.layers.0.input_layernorm.weight"] == (4096,)
    norms = 65 * 4096
    assert rank_numel(LLAMA, Mesh(tp=8)) == ((LLAMA.num_params - norms) // 8 + norms, 0)


def test_row_parallel_biases_stay_whole():
    shapes = {tensor.name: tensor.shape for tensor in rank_tensors(GPT2, Mesh(tp=5))}
    assert shapes["transformer.h.0.attn.c_attn.weight"] == (1600, 960)  # Conv1D stores (in, out)
    assert shapes["transformer.h.0.attn.c_attn.bias"] == (960,)
    assert shapes["transformer.h.0.attn.c_proj.weight"] == (320, 1600)
    assert shapes["transformer.h.0.attn.c_proj.bias"] == (1600,)
    assert shapes["transformer.wte.weight"] == (10052, 1600)  # 50257 rows padded to a multiple of 5
    assert shapes["transformer.wpe.weight"] == (1024, 1600)


def test_few_key_value_heads_are_copied():
    shapes = {tensor.name: tensor.shape for tensor in rank_tensors(LLAMA_70B, Mesh(tp=16))}
    assert shapes["model.layers.0.self_attn.k_proj.weight"] == (128, 8192)  # one head, though 8 heads on 16 ranks
    assert shapes["model.layers.0.self_attn.q_proj.weight"] == (512, 8192)


def test_pipeline_edges():
    first, middle, last = (rank_tensors(LLAMA, Mesh(pp=4), stage) for stage in (0, 1, 3))
    assert first[0].owner == "embedding" and all(tensor.owner == "layer" for tensor in first[1:])
    assert all(tensor.owner == "layer" for tensor in middle)
    assert [tensor.name for tensor in last[-2:]] == ["model.norm.weight", "lm_head.weight"]
    assert {tensor.layer for tensor in middle} == set(range(8, 16))


def test_a_tied_embedding_is_held_twice_in_a_pipeline():
    stages = sum(sum(rank_numel(GPT2, Mesh(pp=4), stage)) for stage in range(4))
    assert stages == GPT2.num_params + 50257 * 1600


def test_expert_parallelism_divides_only_experts():
    dense, experts = rank_numel(MIXTRAL, Mesh(dp=8, ep=8))
    assert experts == 32 * 3 * 4096 * 14336
    assert dense + 8 * experts == MIXTRAL.num_params


def test_expert_states_shard_over_fewer_ranks():
    """With dp = ep = 8 each expert has one home: ZeRO finds nothing to shard among its copies."""
    dense, experts = rank_numel(MIXTRAL, Mesh(dp=8, ep=8))
    book = mesh_ledger(MIXTRAL, Mesh(dp=8, ep=8), stage=3)
    assert book["params"].numel_per_rank == -(-dense // 8) + experts
    assert mesh_ledger(MIXTRAL, Mesh(dp=16, ep=8), 3)["params"].numel_per_rank == -(-dense // 16) - (-experts // 2)


def test_context_parallelism_shards_states_but_not_parameters():
    one, two = (mesh_ledger(LLAMA, Mesh(dp=4, cp=cp), stage=1) for cp in (1, 2))
    assert one["params"].bytes_per_rank == two["params"].bytes_per_rank
    assert one["exp_avg"].bytes_per_rank == 2 * two["exp_avg"].bytes_per_rank


@pytest.mark.parametrize("stage", range(4))
def test_pure_data_parallelism_is_the_plain_ledger(stage):
    for recipe in ("adam-mixed", "muon", "adafactor"):
        plain = ledger(model=LLAMA, dp_size=8, stage=stage, recipe=recipe)
        assert [row for row in mesh_ledger(LLAMA, Mesh(dp=8), stage, recipe).rows] == list(plain.rows)


@pytest.mark.parametrize("tp, pp, dp", [(1, 1, 1), (8, 1, 4), (4, 2, 8), (8, 8, 2)])
def test_megatron_s_formula_agrees_up_to_the_final_norm(tp, pp, dp):
    """Megatron spreads the final norm over the pipeline; it sits on the last stage. Llama has no biases to miss."""
    args = MegatronArgs(4096, 32, 32, 32000, ffn_hidden_size=11008, swiglu=True, normalization="RMSNorm", data_parallel_size=dp,
                        untie_embeddings_and_output_weights=True, tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp,
                        use_distributed_optimizer=True)
    ours = mesh_ledger(LLAMA, Mesh(dp=dp, tp=tp, pp=pp), 1, "megatron-bf16", pp_rank=0)
    if pp > 1:
        first = rank_numel(LLAMA, Mesh(dp=dp, tp=tp, pp=pp), 0)[0]
        theirs = weight_and_optimizer_bytes(args) / (6 + 12 / dp) - 4096 / pp
        assert first == pytest.approx(theirs)
    else:
        # Megatron's buffer of main gradients is whole with the distributed optimizer: 6 + 12/d
        assert ours.model_states_bytes_per_rank == pytest.approx(weight_and_optimizer_bytes(args), rel=1e-8)


@pytest.mark.parametrize("name", ["llama-2-7b", "mixtral-8x7b"])
@pytest.mark.parametrize("stage", range(4))
def test_the_planner_s_quick_total_is_the_ledger_s(name, stage):
    mesh = Mesh(dp=8, tp=2, pp=2, ep=PRESETS[name].model.num_experts or 1)
    for recipe in (RECIPES["adam-mixed"], RECIPES["adam-8bit"]):
        for pp_rank in (0, 1):
            book = mesh_ledger(name, mesh, stage, recipe, pp_rank)
            assert mesh_states_bytes(PRESETS[name].model, mesh, stage, recipe, pp_rank) == book.model_states_bytes_per_rank


@pytest.mark.parametrize("model, mesh", [("llama", Mesh()), (7, Mesh()), (None, Mesh()), (LLAMA, None), (LLAMA, 8), (LLAMA, {"dp": 8})])
def test_what_is_no_model_or_no_mesh_is_refused(model, mesh):
    with pytest.raises(InvalidInput):
        mesh_ledger(model, mesh)


def test_uneven_pipelines_are_given_by_hand():
    """Llama 3.1 405B has 126 layers; Meta gave the first and last of 16 stages one less (arXiv:2407.21783 sec. 3.3.2)."""
    model = PRESETS["llama-3.1-405b"].model
    with pytest.raises(MeshError, match="pp = 16.*num_layers 126.*pp_layers"):
        rank_numel(model, Mesh(pp=16))
    mesh = Mesh(pp=16, pp_layers=(7,) + (8,) * 14 + (7,))
    assert list(stage_layers(model, mesh, 15)) == list(range(119, 126))
    assert sum(rank_numel(model, mesh, stage)[0] for stage in range(16)) == model.num_params


@pytest.mark.parametrize("layers", [(16, 15), (16,), (32, 0, 0), "ab", (16, -16), (16, 16.5), 32])
def test_bad_pipeline_layers_are_refused(layers):
    with pytest.raises(MeshError):
        rank_numel(LLAMA, Mesh(pp=2, pp_layers=layers))


def test_replicas_shard_over_fewer_ranks():
    hybrid = mesh_ledger(LLAMA, Mesh(dp=64, replicas=8), 3)
    assert hybrid.model_states_bytes_per_rank == ledger(model=LLAMA, dp_size=64, stage=3, shard_size=8).model_states_bytes_per_rank
    for bad in ({"dp": 8, "replicas": 3}, {"dp": 8, "ep": 8, "replicas": 2}, {"replicas": 0}):
        with pytest.raises(MeshError):
            Mesh(**bad)


def test_fullest_stage():
    assert fullest_stage(LLAMA, Mesh(pp=4)) == 3  # head and final norm outweigh the embedding by 4096 elements
    assert fullest_stage(LLAMA, Mesh()) == 0
    assert mesh_ledger(LLAMA, Mesh(pp=4)).layout["pp_rank"] == 3


@pytest.mark.parametrize("model, degrees, said", [
    (LLAMA, {"tp": 3}, r"tp = 3.*num_attention_heads 32"),
    (LLAMA_70B, {"tp": 64, "pp": 7}, r"pp = 7.*num_layers 80"),
    (PRESETS["qwen2.5-7b"].model, {"tp": 7}, r"tp = 7.*num_key_value_heads 4"),
    (LLAMA, {"tp": 32, "dp": 1, "pp": 1}, None),
    (GPT2, {"tp": 8}, r"tp = 8.*num_attention_heads 25"),
    (LLAMA, {"dp": 2, "ep": 2}, r"ep = 2.*no experts"),
    (MIXTRAL, {"dp": 16, "ep": 16}, r"ep = 16.*num_experts 8"),
    (MIXTRAL, {"dp": 3, "ep": 3}, r"ep = 3.*num_experts 8"),
    (TransformerShape(64, 2, 8, 100, intermediate_size=100), {"tp": 8}, r"tp = 8.*intermediate_size 100"),
])
def test_what_does_not_divide_is_named_with_both_numbers(model, degrees, said):
    if said is None:
        assert sum(rank_numel(model, Mesh(**degrees))) > 0
        return
    with pytest.raises(MeshError, match=said):
        rank_numel(model, Mesh(**degrees))
    with pytest.raises(MeshError, match=said):
        mesh_ledger(model, Mesh(**degrees))


@pytest.mark.parametrize("degrees", [{"dp": 0}, {"tp": -1}, {"pp": 1.5}, {"cp": "2"}, {"ep": True}, {"dp": float("nan")},
                                     {"dp": 2, "ep": 3}, {"tp": 2, "ep": 2, "etp": 2}])
def test_bad_degrees_are_refused(degrees):
    with pytest.raises(MeshError):
        Mesh(**degrees)


@pytest.mark.parametrize("pp_rank", [-1, 2, 0.5, "0"])
def test_bad_stage_is_refused(pp_rank):
    with pytest.raises(MeshError):
        rank_numel(LLAMA, Mesh(pp=2), pp_rank)


@settings(deadline=None, max_examples=25)
@given(tp=POWERS, pp=POWERS, ep=POWERS, dp=POWERS, etp=st.sampled_from([1, 2]), name=st.sampled_from(["llama-2-7b", "mixtral-8x7b"]))
def test_counts_equal_the_tensors_and_cover_the_model(tp, pp, ep, dp, etp, name):
    model = PRESETS[name].model
    assume(dp * tp % (ep * etp) == 0 and (model.num_experts or ep == 1))
    mesh = Mesh(dp=dp, tp=tp, pp=pp, ep=ep, etp=etp)
    covered = 0
    for stage in range(pp):
        tensors = rank_tensors(model, mesh, stage)
        dense = sum(tensor.numel for tensor in tensors if tensor.owner != "expert")
        experts = sum(tensor.numel for tensor in tensors if tensor.owner == "expert")
        assert rank_numel(model, mesh, stage) == (dense, experts)
        covered += tp * dense + ep * etp * experts
    copies = covered - model.num_params
    norms_and_routers = sum(tensor.numel for tensor in model.tensors() if tensor.tp_dim is None)
    assert copies == (tp - 1) * norms_and_routers


def test_hybrid_sharding_divides_by_the_group():
    hybrid = ledger(7e9, 64, 3, shard_size=8)
    assert hybrid.model_states_bytes_per_rank == ledger(7e9, 8, 3).model_states_bytes_per_rank
    assert hybrid.as_dict()["inputs"]["layout"] == {"shard_size": 8}
    second = ledger(7e9, 64, 3, hpz_size=8)
    extra = second.model_states_bytes_per_rank - ledger(7e9, 64, 3).model_states_bytes_per_rank
    assert extra == second["secondary_params"].bytes_per_rank == 2 * 7e9 / 8


@pytest.mark.parametrize("options", [{"shard_size": 3}, {"shard_size": 0}, {"hpz_size": 5}, {"shard_size": "8"}])
def test_groups_that_do_not_divide_are_refused(options):
    with pytest.raises(InvalidInput):
        ledger(7e9, 64, 3, **options)


def test_second_copy_belongs_to_stage_3():
    with pytest.raises(InvalidInput, match="stage 3"):
        ledger(7e9, 64, 2, hpz_size=8)


def test_model_parallelism_multiplies_the_largest_model():
    assert max_model_params(32 * 10**9, 64, 3, mp_size=4) == 4 * max_model_params(32 * 10**9, 64, 3)
