# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: same-training-torch
#   number: 9
#   minutes: 30
#   checked: 2026-11-29
#   title:
#     en: "Lesson 9 on your own machine: does PyTorch still train the same thing?"
#     zh-CN: "第 9 课，在自己的机器上：PyTorch 训练的还是同一件事吗"
#   summary:
#     en: "The mistakes of lesson 9 in real PyTorch, and the comparison with a baseline that finds them, on a laptop's CPU."
#     zh-CN: "在笔记本电脑的 CPU 上，用真正的 PyTorch 犯一遍第 9 课的错，再和基线对照，把它们找出来。"
# ---

# %% [markdown] id="start" lang="zh-CN"
# 这份笔记本要在本地打开。旁边的文件夹里有 `zeroledger` 和 `small_training.py`；要装的是 torch（CPU 版就够）、jupyter 和 ipywidgets。全部跑完约两分钟。
#
# 第 9 课的模拟器求和是精确的，所以能要求一位不差。这里是真的浮点数：先看舍入有多大，再看错误有多大。

# %% [markdown] id="start" lang="en"
# This notebook is opened locally. Beside it lie `zeroledger` and `small_training.py`; install torch (a CPU build will do), jupyter and ipywidgets. All of it takes about two minutes.
#
# The simulator of lesson 9 adds exactly, so there one may ask for no difference at all. Here numbers are floating point: see first how large rounding is, then how large a mistake is.

# %% id="setup" tags=["setup"]
import sys
from subprocess import run
import torch
import torch.nn.functional as F
from zeroledger import *
from lessonkit import predict, use_language

use_language(LANG)
LAUNCH = f"{sys.executable} -m torch.distributed.run --standalone --nproc-per-node 2"


def train(words, launch=LAUNCH):
    """What the training script prints."""
    done = run([*launch.split(), "small_training.py", *words.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

# %% [markdown] id="launch" lang="zh-CN"
# `LAUNCH` 是唯一和规模有关的一行。8 张卡写 8；几台机器，就在每台上用 `torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500` 启动同样的脚本。

# %% [markdown] id="launch" lang="en"
# `LAUNCH` is the one line that sets the scale. Write 8 for eight cards; on several machines launch the same script on each with `torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500`.

# %% id="predict-ratio" tags=["predict"]
predict("same-token-ratio")

# %% [markdown] id="weights" lang="zh-CN"
# ## 真的 autograd 给出的权重
#
# 把每个 token 的损失乘上一个系数，对系数求导，就是这个 token 在总损失里的权重。下面分两步累积，长度是 10 和 100，每步先各自取平均。打印短序列、长序列里一个 token 的权重，和程序预测的。

# %% [markdown] id="weights" lang="en"
# ## The weights that autograd gives
#
# Multiply each token's loss by a factor and differentiate by the factor: that is the token's weight in the total. Two accumulation steps of 10 and 100 tokens, each taking its own mean. Printed are the weights of a token in the short and the long sequence, and what the package predicts.

# %% id="live-weights"
tokens = [10, 100]
factors = [torch.ones(count, requires_grad=True) for count in tokens]
for each in factors:
    (each.mean() / len(tokens)).backward()
print(*(each.grad[0].item() for each in factors), token_weights(tokens, "mean-of-means"))

# %% [markdown] id="sign" lang="zh-CN"
# ## 符号全反
#
# 第 9 课的小例子：5 个类，两个微批次。先猜哪几个分量会变号，再让 PyTorch 自己求导。

# %% [markdown] id="sign" lang="en"
# ## Every sign reversed
#
# The small case of lesson 9: 5 classes, two micro-batches. Guess which entries change their sign, then let PyTorch differentiate.

# %% id="live-sign"
targets = [[0, 1, 2], [3, 3, 4, 4, 4, 1, 0, 2, 3]]
for weighting in ("mean-of-means", "global"):
    logits = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    for batch in targets:
        scale = 2 * len(batch) if weighting == "mean-of-means" else 12
        loss = F.cross_entropy(logits.expand(len(batch), 5), torch.tensor(batch), reduction="sum")
        (loss / scale).backward()
    ours = torch.tensor(accumulated_logit_gradient([0] * 5, targets, weighting), dtype=torch.float64)
    assert torch.allclose(logits.grad, ours)
    print(*(f"{entry:+.4f}" for entry in logits.grad.tolist()), weighting)

# %% [markdown] id="baseline" lang="zh-CN"
# ## 基线
#
# 一个进程，不分片，不累积，整个批次一次算完。16 条序列，训练的 token 从 4 个到 128 个不等，其余用 −100 掩掉。写出第一步的梯度，后面都和它比。

# %% [markdown] id="baseline" lang="en"
# ## The baseline
#
# One process, nothing sharded, no accumulation, the whole batch at once. 16 sequences, of which between 4 and 128 tokens are trained and the others masked with −100. The first step's gradients are written, and everything below is compared with them.

# %% id="live-baseline"
print(train("--stage 0 --steps 2 --gradients baseline.pt", launch=sys.executable))
baseline = torch.load("baseline.pt", weights_only=True)

# %% [markdown] id="compare" lang="zh-CN"
# ## 分片、累积，还是同一件事吗
#
# 下面三种都有两个进程，分母用全局 token 数：DDP，FSDP2，FSDP2 再累积 4 步。每行是布局、梯度的最大差、基线里最大的分量、两者之比。先猜比值的数量级：FP32 有 24 个二进制有效位。

# %% [markdown] id="compare" lang="en"
# ## Sharded, accumulated: still the same?
#
# Three layouts of two processes, all dividing by everyone's tokens: DDP, FSDP2, and FSDP2 with 4 accumulation steps. Each line: layout, largest difference of a gradient entry, largest entry of the baseline, their ratio. Guess the order of magnitude of the ratio first; FP32 has 24 significant bits.

# %% id="live-compare"
top = max(each.abs().max() for each in baseline.values()).item()
for layout in ("--stage 0", "--stage 3", "--stage 3 --accumulate 4"):
    train(f"{layout} --steps 1 --gradients other.pt")
    other = torch.load("other.pt", weights_only=True)
    worst = max((other[name] - each).abs().max() for name, each in baseline.items()).item()
    print(f"{layout:26} {worst:.1e} {top:.1e} {worst / top:.1e}")

# %% [markdown] id="break" lang="zh-CN"
# ## 犯一个错
#
# 现在每个微批次各自取平均，rank 之间也是。没有报错，损失照样下降。先猜：最大差会是最大分量的百分之几？有多少分量变号？再运行。

# %% [markdown] id="break" lang="en"
# ## Make the mistake
#
# Now every micro-batch takes its own mean, on each rank too. There is no error and the loss goes down. Guess first: what per cent of the largest entry will the largest difference be, and how many entries change their sign? Then run.

# %% id="live-break"
print(train("--stage 3 --accumulate 4 --weighting mean-of-means --gradients other.pt"))
other = torch.load("other.pt", weights_only=True)
worst = max((other[name] - each).abs().max() for name, each in baseline.items()).item()
flipped = sum((other[name] * each < 0).sum().item() for name, each in baseline.items())
print(f"{worst / top:.1%}", f"{flipped / sum(each.numel() for each in baseline.values()):.1%}")

# %% id="predict-schedule" tags=["predict"]
predict("same-schedule")

# %% [markdown] id="schedule" lang="zh-CN"
# ## 学习率计划
#
# 真的调度器，每个优化器步走 4 次，就像 4 个进程上的 accelerate。数一数，走了多少个优化器步，学习率就到了零。

# %% [markdown] id="schedule" lang="en"
# ## The schedule
#
# A real scheduler, stepped four times in every optimizer step, as accelerate does on four processes. Count the optimizer steps until the learning rate is zero.

# %% id="live-schedule"
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
plan = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=1000)
steps = 0
while optimizer.param_groups[0]["lr"] > 1e-12:
    optimizer.step()
    steps += 1
    for _ in range(4):
        plan.step()
print(steps, optimizer_steps_of_schedule(1000, 4))

# %% id="predict-update" tags=["predict"]
predict("same-first-update")

# %% [markdown] id="update" lang="zh-CN"
# ## 多走的一步
#
# 真的 Adam。先用零梯度走一步，像有的框架建状态时那样，再走真正的第一步，看权重动了几个学习率。

# %% [markdown] id="update" lang="en"
# ## One step too many
#
# A real Adam. First a step on zero gradients, as some frameworks do to make their states; then the real first step. By how many learning rates did the weight move?

# %% id="live-update"
for extra in (0, 1, 2):
    weight = torch.zeros(1, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=1e-3, eps=1e-12)
    for gradient in [0.0] * extra + [0.5]:
        weight.grad = torch.tensor([gradient])
        adam.step()
    print(extra, f"{-weight.item() / 1e-3:.4f}", f"{first_adam_update(0.9, 0.999, extra):.4f}")

# %% id="predict-batch" tags=["predict"]
predict("same-batch")

# %% [markdown] id="limits" lang="zh-CN"
# ## 这里没有说的
#
# - 只比了第一步的梯度。按第 9 课的清单，还要比更新、学习率和各 rank 的权重。
# - 用的是 FP32。换成 BF16 混合精度，舍入大约是千分之几，百分之一的错会藏在里面，所以先用 FP32 比。
# - 比值随 torch 的版本和线程数会变一点，数量级不变。

# %% [markdown] id="limits" lang="en"
# ## What this does not say
#
# - Only first gradients were compared. The list in lesson 9 goes on to updates, learning rates and the weights of every rank.
# - It is FP32. In BF16 mixed precision rounding is a few thousandths, and a mistake of one per cent hides in it; so compare in FP32 first.
# - The ratios vary a little with the version of torch and the number of threads. Their order of magnitude does not.
