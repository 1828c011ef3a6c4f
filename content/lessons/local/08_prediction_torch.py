# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: prediction-torch
#   number: 8
#   minutes: 30
#   checked: 2026-11-29
#   title:
#     en: "Lesson 8 on your own machine: predict, measure, explain"
#     zh-CN: "第 8 课，在自己的机器上：预测，实测，解释"
#   summary:
#     en: "Real PyTorch on a laptop's CPU: a small model trained by two processes, measured instant by instant, and the difference explained."
#     zh-CN: "在笔记本电脑的 CPU 上跑真正的 PyTorch：两个进程训练一个小模型，逐个时刻实测，再解释差在哪里。"
# ---

# %% [markdown] id="start" lang="zh-CN"
# 这份笔记本要在本地打开，不在浏览器里跑。旁边的文件夹里有它需要的一切：`zeroledger`（算账）、`zeroledger_measure.py`（读表）、`small_training.py`（训练）。要装的只有 torch（CPU 版就够）和 jupyter、ipywidgets。全部跑完约三分钟。
#
# 没有 GPU 也行：CPU 上没有“已保留”和“整卡”两块表，只有活着的张量，由 PyTorch 自己的 MemTracker 来数。有 GPU 的话，每个进程一张，脚本会自己用上，三块表都读。

# %% [markdown] id="start" lang="en"
# This notebook is opened locally; it does not run in the browser. What it needs lies beside it: `zeroledger` (the accounting), `zeroledger_measure.py` (reads the meters) and `small_training.py` (trains). Install torch (a CPU build will do), jupyter and ipywidgets, nothing else. All of it takes about three minutes.
#
# No GPU is needed. On a CPU there is neither a reserved nor a device meter, only live tensors as PyTorch's own MemTracker counts them. With a GPU for every process the script uses them by itself and reads all three meters.

# %% id="setup" tags=["setup"]
import sys
from subprocess import run
from zeroledger import *
from lessonkit import predict, use_language

use_language(LANG)

# %% [markdown] id="launch" lang="zh-CN"
# ## 只有这一行和规模有关
#
# 下面一行用两个进程启动训练。换成一台 8 卡的机器，把 2 改成 8。换成几台机器，在每一台上用
#
# `torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500`
#
# 启动同样的脚本，后面的格子一个字都不用改：rank 0 所在的机器上会写出所有 rank 的读数。

# %% [markdown] id="launch" lang="en"
# ## The one line that sets the scale
#
# The line below launches two processes. On a machine of eight cards, write 8 for 2. On several machines, launch the same script on each with
#
# `torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500`
#
# and change nothing in the cells that follow: the machine of rank 0 gets the readings of all ranks.

# %% id="launch-line"
LAUNCH = f"{sys.executable} -m torch.distributed.run --standalone --nproc-per-node 2"


def train(words, launch=LAUNCH):
    """What the training script prints."""
    done = run([*launch.split(), "small_training.py", *words.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

# %% [markdown] id="guess" lang="zh-CN"
# ## 先预测
#
# 模型是一个 4 层的小 Llama，隐藏维度 256，词表 4096。第一个问题只问状态。

# %% [markdown] id="guess" lang="en"
# ## Predict first
#
# The model is a small Llama: 4 layers, hidden size 256, a vocabulary of 4096. The first question is about state alone.

# %% id="predict-state" tags=["predict"]
predict("prediction-small-fsdp")

# %% [markdown] id="guess-peak" lang="zh-CN"
# 第二个问题：整步的峰值是多少？一个 rank 一次处理 8 条 128 个 token 的序列，词表 4096，logits 是 FP32。先在纸上算：状态、激活、logits 各多少，哪一刻最高。把你的数写进下面，再往下看。

# %% [markdown] id="guess-peak" lang="en"
# The second: what is the peak of a whole step? A rank takes 8 sequences of 128 tokens at a time, the vocabulary is 4096, logits are FP32. Work it out on paper: how much is state, how much activations, how much logits, and at which instant is it highest? Write your number below before you go on.

# %% id="my-guess"
guess = parse_bytes("100 MB")

# %% [markdown] id="budget" lang="zh-CN"
# 程序的预测。打印的是峰值那一刻每一行账，和峰值所在的时刻。你的数和它差多少？差在哪一行？

# %% [markdown] id="budget" lang="en"
# What the package predicts: the accounts at the peak, and which instant it is. How far off were you, and in which row?

# %% id="live-budget"
from small_training import MODEL, SEQ_LENGTH
model = model_from_hf_config(MODEL)
plan = budget(model, mesh=2, stage=3, engine="fsdp2", recipe="adam-fp32",
              compute_dtype="fp32", seq_length=SEQ_LENGTH, micro_batch_size=8,
              loss_upcast=False)
print(plan.table("MB"))
print(f"{guess / plan.peak_bytes:.2f}")

# %% [markdown] id="measure" lang="zh-CN"
# ## 实测
#
# 训练四步，第三步读表。训练本身一点不变：`zeroledger_measure.py` 只挂了几个钩子，读完就拆。输出里的损失不带测量时也一模一样。

# %% [markdown] id="measure" lang="en"
# ## Measure
#
# Four steps of training, of which the third is measured. Training itself is unchanged: `zeroledger_measure.py` hangs a few hooks and takes them away again. The losses are the same without it.

# %% id="live-measure"
print(train("--stage 3 --measure run3.json"))

# %% [markdown] id="explain" lang="zh-CN"
# ## 解释
#
# 每个时刻一张表。先看 `after_step`：权重和优化器状态应当一个字节都不差，因为分片规则是确定的。再看 `peak`：MemTracker 把 logits 的梯度叫作“临时”，我们记在激活里，所以这两行要加起来看，最后一行就是它们的和。剩下的差来自激活：预测按 Llama 算，含旋转位置编码，这个小模型没有，CPU 的算子留的东西也略有不同。差占整个峰值不到百分之五，在预测自己说的范围里。

# %% [markdown] id="explain" lang="en"
# ## Explain
#
# One table an instant. Look at `after_step` first: weights and optimizer state should agree to the byte, because the sharding rules leave no choice. Then at `peak`. MemTracker calls the gradients of logits temporary, while our account keeps them with the activations, so read the two rows together; the last line is their sum. What is left is activations: the prediction assumes a Llama with rotary embedding, this small model has none, and a CPU's kernels keep slightly different things. The gap is under five per cent of the peak and inside the range that the prediction itself states.

# %% id="live-explain"
told = explain(open("run3.json").read())
for each in told.instants:
    if each.rank == 0 and each.name in ("after_step", "peak"):
        rows = [row[:3] for row in each.rows if row[2] is not None]
        passing = [row for row in rows if row[0] in ("activations", "temporary")]
        rows.append(("activations + temporary", *map(sum, zip(*(row[1:] for row in passing)))))
        print(each.name, *(f"{name}: {ours / 1e6:.3f} / {real / 1e6:.3f} MB" for name, ours, real in rows), sep="\n  ")

# %% [markdown] id="stages" lang="zh-CN"
# ## 阶段 2 和阶段 0
#
# 换成阶段 2（FSDP2，收集来的权重留到反向结束）和阶段 0（DDP）。先猜：峰值各多高？步与步之间各剩多少？写下来，再运行。每行是阶段、时刻、预测、实测、差。

# %% [markdown] id="stages" lang="en"
# ## Stages 2 and 0
#
# Now stage 2 (FSDP2 that keeps gathered weights until backward is over) and stage 0 (DDP). Guess first: how high is each peak, and what is left between steps? Write it down, then run. Each line: stage, instant, predicted, measured, difference.

# %% id="live-stages"
for stage in (2, 0):
    train(f"--stage {stage} --measure run{stage}.json")
    for each in explain(open(f"run{stage}.json").read()).instants:
        if each.rank == 0 and each.name in ("after_step", "peak"):
            sizes = each.predicted_bytes, each.measured_bytes, each.difference_bytes
            print(stage, f"{each.name:10}", *(f"{size / 1e6:8.2f}" for size in sizes), "MB")

# %% [markdown] id="ddp" lang="zh-CN"
# 阶段 0 步与步之间，实测的“临时”一行比预测多出来的，正好是每参数 4 字节（下一格除给你看）。这是 DDP 自己的归约桶：它把梯度抄进桶里再归约，桶一直在，和 ZeRO 的账无关。预测用的是“理想”引擎，里面没有这些桶。
#
# 再看阶段 0 的峰值，实测反而更低：峰值在损失的反向，那一刻梯度还没有生成，而理想引擎一直算着梯度。一多一少，两个差混在一起，总数看上去就“差不多”。所以要逐行对。
#
# 试试在 `small_training.py` 里给 DDP 加上 `gradient_as_bucket_view=True`，再跑一次：差应当怎么变？

# %% [markdown] id="ddp" lang="en"
# Between steps at stage 0 the row “temporary” is higher than predicted by 4 bytes a parameter, exactly; the next cell divides. These are DDP's own reduction buckets: gradients are copied into them to be reduced, and they stay. The prediction was made with the "ideal" engine, which has no such buckets.
#
# At the peak of stage 0 the measurement is lower. The peak is in the loss's backward, when no gradient has been made yet, while the ideal engine counts gradients all the time. One difference up, one down: in a total they would half cancel and look like agreement. That is why we compare row by row.
#
# Give DDP `gradient_as_bucket_view=True` in `small_training.py` and run again. What should happen to the difference?

# %% id="live-ddp"
for each in explain(open("run0.json").read()).instants:
    if each.rank == 0 and each.name == "after_step":
        print({row[0]: row[3] for row in each.rows}["temporary"] / model.num_params)

# %% [markdown] id="wrong" lang="zh-CN"
# ## 配置和实际不符
#
# 排查显存问题时最常见的情形：你以为开了，其实没开。下面拿阶段 2 的实测，假装配置写的是阶段 3。先猜：前向结束时，哪一行会对不上？差多少？

# %% [markdown] id="wrong" lang="en"
# ## When the configuration is not what ran
#
# The usual situation in practice: you believe it is on, and it is not. The cell takes the measurement of stage 2 and pretends that the configuration said stage 3. Guess first: at the end of forward, which row will be off, and by how much?

# %% id="live-wrong"
import json

pretended = json.load(open("run2.json"))
pretended["config"] |= {"stage": 3, "fsdp": {"reshard_after_forward": "default"}}
for each in explain(pretended).instants:
    if each.rank == 0 and each.name == "end_of_forward":
        print(f"{each.difference_bytes / 1e6:+.3f} MB", [one.key for one in each.candidates])
        for name, ours, real, off in each.rows:
            print(f"{name:12} {ours / 1e6:8.3f} {real / 1e6:8.3f} {off / 1e6:+8.3f} MB")

# %% [markdown] id="wrong-why" lang="zh-CN"
# 第一行只看总数：差五兆多，候选里排上的是 `dropout`，大小说得通，却是错的。真正的原因藏在两行里：`params` 多了 {{ 4 * (5_261_568 - 2 * 4096 * 256 - 256) | MB 2 }}，正好是四层的 FP32 权重，它们收集来以后没有再切开；激活少了七兆多，抵掉了一半。
#
# “相容”不等于“原因”，这就是例子。有分类读数时，先逐行对，再看候选。

# %% [markdown] id="wrong-why" lang="en"
# The first line knows the total alone: a little over five MB off, and the candidate whose size fits is `dropout`, which is wrong. The cause lies in two rows. `params` holds {{ 4 * (5_261_568 - 2 * 4096 * 256 - 256) | MB 2 }} more, exactly the FP32 weights of the four layers, gathered and not resharded; activations hold seven MB less and hide half of it.
#
# Here you see that consistent does not mean proven. Where there are readings by category, compare rows first and candidates after.

# %% [markdown] id="snapshot" lang="zh-CN"
# ## 每一块都看见
#
# 总数分不开的，快照分得开。下面再跑一次，写出分配器的历史（JSON，不是 pickle），画成文字：每行是一段事件里的最高点；最后是峰值那一刻最大的几笔，是谁申请的。同一个文件可以拖进网站的“自己的训练”页，看图。

# %% [markdown] id="snapshot" lang="en"
# ## Every block in sight
#
# What a total cannot tell apart, a snapshot can. The cell runs once more, writes the allocator's history (JSON, not a pickle) and prints it: one line a stretch of events with its highest point, then the largest items at the peak and who asked for them. Drop the same file on the site's page "Your own run" to see it as a picture.

# %% id="live-snapshot"
train("--stage 3 --measure run3.json --snapshot snapshot.json")
shown = run([sys.executable, "-m", "zeroledger", "snapshot", "snapshot.json", "--unit", "MB"],
            capture_output=True, text=True)
print(shown.stdout or shown.stderr)

# %% [markdown] id="limits" lang="zh-CN"
# ## 这里没有说的
#
# - CPU 上没有缓存分配器，所以没有碎片，也没有上下文。那两块表要在 GPU 上读，命令是同一条。
# - MemTracker 数的是张量，不含算子内部的临时空间。GPU 上的峰值会更高一点。
# - 两个进程、五百万参数，看不出通信和规模的影响；能看出的是分片规则对不对，而规则和规模无关。

# %% [markdown] id="limits" lang="en"
# ## What this does not say
#
# - A CPU has no caching allocator, hence no fragmentation, and no context. Those two meters are read on a GPU, by the same command.
# - MemTracker counts tensors, not the space a kernel uses inside. A peak on a GPU will be somewhat higher.
# - Two processes and five million parameters say nothing of communication and scale. They do say whether the sharding rules are right, and those do not depend on scale.
