"""The recipes we know, each with its source and whom it describes.

Why one question has many answers: projects differ in the dtype of gradients, in whether they keep an fp32 copy of
weights or gradients, and in what they shard. The rows show which.
"""

from .recipes import NEVER, Recipe, RecipeRow as Row

ZERO_PAPER = "arXiv:1910.02054 sec. 3.1"
MEGATRON_DOC = "NVIDIA/Megatron-LM docs/user-guide/features/dist_optimizer.md"
HF_DOC = "huggingface/transformers docs/source/en/model_memory_anatomy.md"
PYTORCH_RUN = "PyTorch 2.13.0, measured on CPU with gloo"

# Rows that many recipes share. Stages follow ZeRO: 1 optimizer states, 2 gradients too, 3 parameters too.
PARAMS_16 = Row("params", "bf16", 2, 3)
GRADS_16 = Row("grads", "bf16", 2, 2)
PARAMS_32 = Row("params", "fp32", 4, 3)
GRADS_32 = Row("grads", "fp32", 4, 2)
MASTER_32 = Row("master_params", "fp32", 4, 1)
MOMENTS_32 = (Row("exp_avg", "fp32", 4, 1), Row("exp_avg_sq", "fp32", 4, 1))
MOMENTS_16 = (Row("exp_avg", "bf16", 2, 1), Row("exp_avg_sq", "bf16", 2, 1))

ADAM_MIXED = Recipe(
    "adam-mixed", (PARAMS_16, GRADS_16, MASTER_32, *MOMENTS_32),
    f"{ZERO_PAPER} (2Ψ + 2Ψ + 12Ψ); DeepSpeed 0.19.8 bf16, measured: 16.000 after backward",
    "Mixed-precision Adam as ZeRO counts it and as a DeepSpeed bf16 run holds it: 16 bytes per parameter.")

MEGATRON = (
    Recipe("megatron-fp16", (Row("params", "fp16", 2, 3), Row("grads", "fp16", 2, 2), Row("main_grads", "fp32", 4, 1),
                             MASTER_32, *MOMENTS_32),
           f"{MEGATRON_DOC}: 20, or 4 + 16/d with the distributed optimizer (ZeRO-1)",
           "Megatron-LM with fp16 gradients: it also keeps an fp32 copy of them for the optimizer, hence 20."),
    Recipe("megatron-bf16", (PARAMS_16, Row("main_grads", "fp32", 4, 2), MASTER_32, *MOMENTS_32),
           f"{MEGATRON_DOC}: 18, or 6 + 12/d with the distributed optimizer (ZeRO-1)",
           "Megatron-LM with bf16 weights: gradients accumulate straight into an fp32 buffer, hence 18."),
    Recipe("megatron-fp32", (PARAMS_32, Row("main_grads", "fp32", 4, 2), *MOMENTS_32),
           f"{MEGATRON_DOC}: 16, or 8 + 8/d with the distributed optimizer (ZeRO-1)",
           "Megatron-LM all in fp32: the weights are their own master copy, hence 16."),
    Recipe("megatron-bf16-moments", (PARAMS_16, Row("main_grads", "fp32", 4, 2), MASTER_32, *MOMENTS_16),
           "Megatron-LM --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16: 14, or 6 + 8/d",
           "Megatron-LM's precision-aware optimizer with bf16 moments."),
)

DEEPSPEED = (
    Recipe("deepspeed-zero2-estimator", (Row("params", "16-bit", 2, NEVER), Row("grads", "16-bit", 2, 2),
                                         Row("fp32_grads", "fp32", 4, 2), MASTER_32, *MOMENTS_32),
           "deepspeedai/DeepSpeed@edaa7221 runtime/zero/stage_1_and_2.py: 2P + 18P/N since PR #5099 "
           "(docs still 4P + 16P/N)",
           "DeepSpeed's ZeRO-2 estimator: counts an fp32 gradient copy that a bf16 run does not keep, hence 20."),
    Recipe("deepspeed-zero3-estimator", (Row("params", "16-bit", 2, 3), Row("fp32_grads", "fp32", 4, 2), MASTER_32,
                                         *MOMENTS_32),
           "deepspeedai/DeepSpeed@edaa7221 runtime/zero/stage3.py: 18P/N (+ 4 × largest module)",
           "DeepSpeed's ZeRO-3 estimator says 18 because it counts gradients once, in fp32."),
    Recipe("deepspeed-autotuner-fp16", (Row("params", "fp16", 2, 3), Row("grads", "fp16", 2, 2),
                                        Row("fp32_grads", "fp32", 4, 1), MASTER_32, *MOMENTS_32),
           "deepspeedai/DeepSpeed@edaa7221 autotuning/autotuner.py L278-302: 2 + 2 + 16",
           "DeepSpeed's autotuner in fp16: fp32 gradients counted among the optimizer states, hence 20."),
    Recipe("deepspeed-autotuner-fp32", (PARAMS_32, GRADS_32, *MOMENTS_32),
           "deepspeedai/DeepSpeed@edaa7221 autotuning/autotuner.py L278-302: 4 + 4 + 8",
           "DeepSpeed's autotuner without fp16."),
)

PLAIN = (
    Recipe("adam-fp32", (PARAMS_32, GRADS_32, *MOMENTS_32), f"{PYTORCH_RUN}: DDP fp32 holds 4 + 4 + 8",
           "Plain fp32 Adam; also FSDP2 with a bf16 mixed-precision policy, whose shards stay fp32."),
    Recipe("adam-bf16-no-master", (PARAMS_16, GRADS_16, *MOMENTS_32), "derived: fp32 moments beside bf16 weights",
           "bf16 weights without a master copy, moments in fp32: 12. Small updates can vanish in rounding."),
    Recipe("adam-bf16-pure", (PARAMS_16, GRADS_16, *MOMENTS_16), f"{PYTORCH_RUN}: DDP pure bf16 holds 2 + 2 + 4",
           "torch.optim.AdamW on a bf16 model: moments take the weights' dtype, 8 in all."),
    Recipe("adam-mixed-fp32-grads", (PARAMS_16, GRADS_16, Row("fp32_grads", "fp32", 4, 2), MASTER_32, *MOMENTS_32),
           "Ultra-Scale Playbook memory table: 20 with fp32 gradient accumulation",
           "nanotron: mixed precision with an extra fp32 gradient buffer, hence 20."),
    Recipe("adam-mixed-accumulate-unsharded", (PARAMS_16, Row("grads", "fp32", 4, NEVER), MASTER_32, *MOMENTS_32),
           "verl-project/verl#7458; PyTorch 2.13.0, measured: 4P for any N while synchronisation is skipped",
           "Gradient accumulation without synchronising: whole fp32 gradients on every rank at every stage."),
    Recipe("hf-amp-adam", (PARAMS_32, Row("params_16", "fp16", 2, NEVER), GRADS_32, *MOMENTS_32),
           f"{HF_DOC}: weights 6, gradients 4, AdamW 8", "Hugging Face's count for autocast training: 18."),
    Recipe("adam-8bit", (PARAMS_32, Row("params_16", "fp16", 2, NEVER), GRADS_32,
                         Row("exp_avg", "int8", 1, 1, "all", 256, 4), Row("exp_avg_sq", "uint8", 1, 1, "all", 256, 4)),
           f"{HF_DOC}: 2 for 8-bit AdamW; arXiv:2110.02861 block-wise states, in bitsandbytes an fp32 scale per 256",
           "bitsandbytes 8-bit Adam under autocast: 12, and 1/32 more for the block scales."),
    Recipe("adam-8bit-bf16", (PARAMS_16, GRADS_16, Row("exp_avg", "int8", 1, 1, "all", 256, 4),
                              Row("exp_avg_sq", "uint8", 1, 1, "all", 256, 4)),
           "arXiv:2110.02861; bitsandbytes blocks of 256 with an fp32 scale",
           "8-bit Adam on a bf16 model without master weights."),
    Recipe("sgd-momentum", (PARAMS_16, GRADS_16, MASTER_32, Row("momentum", "fp32", 4, 1)),
           f"{HF_DOC}: 4 for the momentum", "Mixed-precision SGD with momentum: 12."),
    Recipe("sgd-momentum-fp32", (PARAMS_32, GRADS_32, Row("momentum", "fp32", 4, 1)), f"{HF_DOC}: 4 for the momentum",
           "fp32 SGD with momentum: 12."),
    Recipe("lion", (PARAMS_16, GRADS_16, MASTER_32, Row("exp_avg", "fp32", 4, 1)), "arXiv:2302.06675 (one momentum)",
           "Mixed-precision Lion: one moment instead of Adam's two, 12."),
)

BY_TENSOR = (
    Recipe("muon", (PARAMS_16, GRADS_16, MASTER_32, Row("momentum", "fp32", 4, 1, "matrices"),
                    Row("exp_avg", "fp32", 4, 1, "others"), Row("exp_avg_sq", "fp32", 4, 1, "others")),
           "Keller Jordan, Muon (kellerjordan.github.io/posts/muon): one momentum for hidden matrices, Adam else",
           "Mixed-precision Muon with Adam for embeddings, head, norms and biases."),
    Recipe("adafactor", (PARAMS_16, GRADS_16, MASTER_32, Row("exp_avg_sq_factors", "fp32", 4, 1, "factors")),
           "arXiv:1804.04235 sec. 3 (no momentum): row and column means instead of a full second moment",
           "Mixed-precision Adafactor without momentum."),
    Recipe("lora", (Row("params", "bf16", 2, 3, "frozen"), Row("adapter_params", "fp32", 4, 3, "trained"),
                    Row("adapter_grads", "fp32", 4, 2, "trained"), Row("exp_avg", "fp32", 4, 1, "trained"),
                    Row("exp_avg_sq", "fp32", 4, 1, "trained")),
           "arXiv:2106.09685; Hugging Face PEFT keeps adapters in fp32 (autocast_adapter_dtype)",
           "LoRA: a frozen bf16 base, and fp32 adapters with Adam: 16 bytes per *trained* parameter."),
    Recipe("qlora", (Row("params_nf4", "nf4", 0.5, 3, "matrices", 64, 1),
                     Row("quant_scale_scales", "fp32", 0, 3, "matrices", 64 * 256, 4),
                     Row("params_16", "bf16", 2, 3, "others"), Row("adapter_params", "fp32", 4, 3, "trained"),
                     Row("adapter_grads", "fp32", 4, 2, "trained"), Row("exp_avg", "fp32", 4, 1, "trained"),
                     Row("exp_avg_sq", "fp32", 4, 1, "trained")),
           "arXiv:2305.14314 sec. 3: NF4, an 8-bit scale per 64, an fp32 scale per 256 of those (0.127 bits a parameter)",
           "QLoRA: the layers' matrices in 4 bits, embeddings, head and norms in bf16, fp32 adapters with Adam."),
)

RECIPES = {each.name: each for each in (ADAM_MIXED, *PLAIN, *MEGATRON, *DEEPSPEED, *BY_TENSOR)}
