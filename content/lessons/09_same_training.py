# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: same-training
#   number: 9
#   checked: 2026-09-10
#   title:
#     en: "Does it still train the same thing?"
#     zh-CN: "省下了显存，训练的还是同一件事吗"
#   summary:
#     en: "Tokens weighed wrongly, a schedule that runs too fast, one optimizer step too many: mistakes that raise no error, and the comparison that finds them."
#     zh-CN: "token 的权重错了，学习率走得太快，优化器多走了一步：这些错都不报错，要和基线对照才找得到。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 2023 年 7 月，有人给 transformers 提了一个问题（huggingface/transformers#24725）：训练集只有两条序列，一条 11 个 token，一条 101 个。一次放两条（批次 2，不累积），和一次放一条、累积两步，得到的梯度不一样。
#
# 累积本来是拿时间换显存的办法，结果应当相同。这里没有报错，没有 NaN，损失照样下降，只是训练了另一件事。直到 2024 年 10 月，transformers 才在 PR#34191 里改了它，之后又补过几次。
#
# 前八课都在省显存。这一课只问：省完之后，梯度、更新和学习率，还是原来的吗？

# %% [markdown] id="question" lang="en"
# In July 2023 someone opened an issue at transformers (huggingface/transformers#24725). Take a training set of two sequences, one of 11 tokens and one of 101. Both at once (batch 2, no accumulation), or one at a time with two accumulation steps: the gradients differ.
#
# Accumulation is meant to buy memory with time and to change nothing else. There was no error here, no NaN, the loss went down; it merely trained something else. transformers changed it in PR#34191 in October 2024, and had to mend it again after that.
#
# Eight lessons have been about saving memory. This one asks whether, afterwards, gradients, updates and learning rates are still what they were.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="guess-ratio" lang="zh-CN"
# ## 先猜：一个 token 有多重
#
# 分两步累积时，梯度是两个平均损失的平均。站在单个 token 的位置想一想，它对梯度出了多少力？

# %% [markdown] id="guess-ratio" lang="en"
# ## Guess first: the weight of a token
#
# With two accumulation steps, the gradient is that of an average of two mean losses. Take the place of a single token: how much does it contribute?

# %% id="predict-ratio" tags=["predict"]
predict("same-token-ratio")

# %% [markdown] id="weights" lang="zh-CN"
# ## 除以谁
#
# 一条序列的第一个 token 没有目标，所以训练的是 10 个和 100 个。平均损失有两种除法：
#
# - **平均值的平均**：两个微批次各自除以 10 和 100，再除以 2。短序列的每个 token 得 1/20，长序列的得 1/200；
# - **全局**：全部加起来，除以 110。每个 token 都是 1/110。
#
# 一次放两条，框架做的是后一种；分两步累积，很容易写成前一种。下面每行是两种 token 的权重，和短序列在整个梯度里占的份额：本该是 {{ 10 / 110 | pct 0 }}，变成了一半。
#
# 把 `[10, 100]` 改成 `[50, 60]`、`[55, 55]`：长度相等时，两种除法没有区别。所以用定长序列做的测试，永远发现不了这个错。

# %% [markdown] id="weights" lang="en"
# ## Divided by what
#
# The first token of a sequence has no target, so 10 and 100 tokens are trained. Their mean loss can be taken in two ways:
#
# - **mean of means**: divide each micro-batch by its own 10 or 100, then by 2. A token of the short sequence gets 1/20, one of the long 1/200;
# - **global**: add everything, divide by 110. Each token gets 1/110.
#
# With both sequences in one batch, frameworks do the second; accumulated in two steps, it easily becomes the first. Each line shows the two weights and the share of the short sequence in the whole gradient. It should be {{ 10 / 110 | pct 0 }}, and becomes one half.
#
# Change `[10, 100]` to `[50, 60]`, then `[55, 55]`. With equal lengths the two agree, so a test on sequences of fixed length will never find this mistake.

# %% id="live-weights" tags=["live"]
tokens = [10, 100]
for weighting in ("mean-of-means", "global"):
    weights = token_weights(tokens, weighting)
    share = weights[0] * tokens[0]
    print(f"{weights[0]:.5f} {weights[1]:.5f} {share:.0%}  {weighting}")
assert weights == (1 / sum(tokens), 1 / sum(tokens))

# %% [markdown] id="sign" lang="zh-CN"
# ## 能错到什么程度
#
# 权重差十倍，听起来像是“偏了一点”。看一个小例子：5 个类，所有 token 共用一组 logits，初值全是 0，所以每类的概率都是 1/5。两个微批次，一个 3 个 token，一个 9 个。
#
# 先手算类 0 的梯度，它等于预测的概率减去目标的频率：
#
# - 全局：12 个 token 里类 0 有 2 个，1/5 − 2/12 = {{ 1 / 5 - 2 / 12 | num 4 }}，正的，该降低它的分数；
# - 平均值的平均：频率成了 (1/3 + 1/9) / 2，1/5 − 2/9 = −{{ 2 / 9 - 1 / 5 | num 4 }}，负的，反而去提高它。
#
# 再用手算猜类 3 的符号，然后运行。两行的五个分量，**符号全部相反**：照着它下降一步，全局损失的一阶变化是上升。

# %% [markdown] id="sign" lang="en"
# ## How wrong can it get
#
# A factor of ten between weights sounds like a slight bias. Here is a small case: 5 classes, one vector of logits shared by all tokens and starting at 0, so every class has probability 1/5. Two micro-batches, of 3 and of 9 tokens.
#
# By hand, the gradient of class 0 is its predicted probability less its frequency among the targets:
#
# - global: 2 of the 12 tokens are class 0, so 1/5 − 2/12 = {{ 1 / 5 - 2 / 12 | num 4 }}. Positive: its score should go down;
# - mean of means: the frequency becomes (1/3 + 1/9) / 2, and 1/5 − 2/9 = −{{ 2 / 9 - 1 / 5 | num 4 }}. Negative: its score is pushed up.
#
# Work out the sign for class 3 in the same way, then run. **Every one of the five entries has the opposite sign.** Descend along it, and to first order the global loss goes up.

# %% id="live-sign" tags=["live"]
targets = [[0, 1, 2], [3, 3, 4, 4, 4, 1, 0, 2, 3]]
for weighting in ("mean-of-means", "global"):
    gradient = accumulated_logit_gradient([0] * 5, targets, weighting)
    print(*(f"{entry:+.4f}" for entry in gradient), weighting)

# %% [markdown] id="ranks" lang="zh-CN"
# ## rank 之间也是一样
#
# 数据并行会对各 rank 的梯度取平均。每个 rank 若先除以自己的 token 数，这个平均又是“平均值的平均”。正确的写法只有一个分母：这一个优化器步里，**所有 rank、所有微批次**的有效 token 总数。
#
# ```python
# total = all_reduce_sum(valid_tokens_of_all_my_micro_batches)
# loss = cross_entropy(logits, labels, reduction="sum") / total
# (loss * world_size).backward()   # DDP, FSDP, ZeRO average over ranks
# ```
#
# 最后一行乘 `world_size`，是因为框架随后会除掉它；transformers 的 PR#34373 加的正是这一乘。“有效”是指没有被掩掉的 token：填充、提示部分（`labels = -100`）都不算。开始第一个微批次之前就要知道总数，所以要先看完这一步的全部标签。

# %% [markdown] id="ranks" lang="en"
# ## Between ranks it is the same
#
# Data parallelism averages gradients over ranks. If each rank has divided by its own number of tokens, that average is a mean of means again. There is one right denominator: the valid tokens of this optimizer step over **all ranks and all micro-batches**.
#
# ```python
# total = all_reduce_sum(valid_tokens_of_all_my_micro_batches)
# loss = cross_entropy(logits, labels, reduction="sum") / total
# (loss * world_size).backward()   # DDP, FSDP, ZeRO average over ranks
# ```
#
# The factor `world_size` in the last line is there because the framework divides it out again; transformers PR#34373 adds just this factor. Valid means not masked: padding and prompts (`labels = -100`) do not count. The total has to be known before the first micro-batch runs, so look at all labels of the step first.

# %% [markdown] id="baseline" lang="zh-CN"
# ## 和基线对照
#
# 怎么知道自己没错？找一个不会错的来比：一个 rank，不分片，不累积，整个批次一次算完。同样的初值，同样的数据，比梯度。
#
# 下面用模拟器真的做一遍：同一个小模型，阶段 0 到 3，2 个 rank，各累积 2 步。模拟器里 `fp64` 的求和是精确的，顺序不影响结果，所以这里可以要求一位都不差。每行是阶段、是否相同、梯度的最大差。

# %% [markdown] id="baseline" lang="en"
# ## Against the baseline
#
# How does one know? Compare with something that cannot be wrong in this way: one rank, no sharding, no accumulation, the whole batch at once. Same initial weights, same data; compare gradients.
#
# The simulator does it for real: one small model, stages 0 to 3, two ranks with two accumulation steps each. Its `fp64` sums are exact, so order does not matter and we may ask for no difference at all. Each line is the stage, whether it is the same training, and the largest difference of a gradient entry.

# %% id="live-stages" tags=["live"]
from zeroledger.simulate import check_gradients, simulate

small = {"num_layers": 1, "hidden_size": 4,
         "intermediate_size": 8, "dp_size": 2}
for stage in range(4):
    check = check_gradients(simulate(stage=stage, **small))
    print(stage, check.ok, check.worst_difference)

# %% [markdown] id="rounding" lang="zh-CN"
# ## 差多少算相同
#
# 真实的训练做不到一位不差：求和的顺序变了，浮点的舍入就变。要判断的是，差的大小像不像舍入。
#
# 下面换精度再比。每行是精度、最大的差、最大的梯度分量、两者之比。FP32 的比应在 10<sup>−7</sup> 上下，BF16 只有 8 个二进制有效位，千分之几是正常的。我们在 PyTorch 2.13 上比过真的 FSDP 和整批次：FP32 差 1.3 × 10<sup>−8</sup>，BF16 混合精度约 2.7 × 10<sup>−4</sup>，而最大的分量是 0.023。
#
# 所以先用 FP32 比。直接在 BF16 下比，一个 1% 的错就藏在舍入里了。

# %% [markdown] id="rounding" lang="en"
# ## How much difference is none
#
# Real training will not agree to the last digit: another order of summation rounds differently. The question is whether the difference looks like rounding.
#
# Now the same in other precisions. Each line is precision, largest difference, largest gradient entry, and their ratio. For FP32 expect about 10<sup>−7</sup>; BF16 has 8 significant bits, and a few thousandths are normal. With PyTorch 2.13 we compared real FSDP to the full batch: 1.3 × 10<sup>−8</sup> in FP32 and about 2.7 × 10<sup>−4</sup> in BF16 mixed precision, beside a largest entry of 0.023.
#
# So compare in FP32 first. In BF16 a mistake of one per cent hides in the rounding.

# %% id="live-rounding" tags=["live"]
from zeroledger.simulate import check_gradients, simulate

small = {"num_layers": 1, "hidden_size": 4,
         "intermediate_size": 8, "dp_size": 2}
for precision in ("fp64", "fp32", "bf16"):
    check = check_gradients(simulate(precision=precision, **small))
    worst, top = check.worst_difference, check.largest_gradient
    print(f"{precision} {worst:.1e} {top:.3f} {worst / top:.1e}", check.ok)

# %% [markdown] id="break" lang="zh-CN"
# ## 故意弄坏
#
# 检查要先抓住过错误，才值得信。下面故意犯一个，看检查说什么：它认出了哪种错，梯度差一个固定倍数还是各不相同，有几个分量符号相反，第一次更新是几个学习率；最后两行是三步的损失，本该的和实际的。
#
# `breaks` 有五种：`mean_of_means`、`no_accumulation_division`、`schedule_per_rank`、`extra_adam_step`、`skip_reduce`。逐个换上去。换之前先猜：哪些看损失就能发现？哪些要看梯度？哪些连梯度都没错？

# %% [markdown] id="break" lang="en"
# ## Break it on purpose
#
# A check deserves trust once it has caught something. The cell makes one mistake and prints what the check says: which mistake it recognised; whether gradients differ by one factor or each in its own way; how many entries have the wrong sign; the first update in learning rates. The last two lines are the losses of three steps, as they should be and as they are.
#
# `breaks` knows five: `mean_of_means`, `no_accumulation_division`, `schedule_per_rank`, `extra_adam_step`, `skip_reduce`. Put each in, and guess first. Which ones does the loss give away? For which do you need the gradient? And for which is even the gradient right?

# %% id="live-break" tags=["live"]
from zeroledger.simulate import check_gradients, simulate

small = {"num_layers": 1, "hidden_size": 4,
         "intermediate_size": 8, "dp_size": 2}
run = simulate(breaks="mean_of_means", num_steps=3, **small)
check = check_gradients(run)
print(check.name, check.ratio, check.flipped, f"{check.first_update:.3f}")
for losses in (check.expected_losses, check.losses):
    print(*(f"{loss:.6f}" for loss in losses))

# %% [markdown] id="break-why" lang="zh-CN"
# 三步之内，五种错的损失最多差在小数点后第二、三位。训练曲线有噪声，凭眼睛看不出来。
#
# 最狡猾的是 `no_accumulation_division`：梯度整整大了一倍，损失却几乎一样。因为 Adam 用梯度除以它自己的均方根，**整体乘一个常数，几乎不改变更新**。于是这个错一直睡着，直到别的东西用到梯度的绝对大小：梯度裁剪会按错误的范数裁，损失缩放和 ε 的作用变了，换成 SGD 则等于学习率翻倍。
#
# `schedule_per_rank` 和 `extra_adam_step` 的第一步梯度一点没错，错在梯度之后。所以要比三样：**梯度、更新、学习率**。

# %% [markdown] id="break-why" lang="en"
# Over three steps all five mistakes change the loss in the second or third decimal at most. A training curve is noisier than that.
#
# The sly one is `no_accumulation_division`. Gradients are exactly twice what they should be and the loss hardly moves, because Adam divides a gradient by its own root mean square: **a constant factor on everything hardly changes the update.** So the mistake sleeps until something uses the absolute size of gradients. Clipping then clips by a wrong norm, loss scaling and ε act differently, and under SGD it doubles the learning rate.
#
# With `schedule_per_rank` and `extra_adam_step` the first gradient is entirely right; what goes wrong comes after it. Hence compare three things: **gradients, updates, learning rates.**

# %% [markdown] id="watch" lang="zh-CN"
# ## 在图上试
#
# 下面是两步训练。控件里有一项“错误”，选一种再运行：图下面会说是不是同一个训练，并画出损失和没有错误的那条。显存的图一点都不变，**显存不会告诉你训练错了**。
#
# 网页上，再往下有训练循环的源码，可以改。去掉 `reduce_bucket` 里的归约，或者只让最后一个微批次参加，看检查认不认得出来。（源码只在网页上能改；在 Notebook 里，用上面那一格。）

# %% [markdown] id="watch" lang="en"
# ## Try it in the picture
#
# Two training steps. The controls include “Mistake”: choose one and run, and below the picture it says whether this is still the same training and draws the loss beside the right one. The memory in the picture does not change at all. **Memory never tells you that training is wrong.**
#
# On the web page, the source of the training loop is further down, and you can edit it. Take the reduction out of `reduce_bucket`, or let only the last micro-batch take part, and see whether the check knows what you did. (The source can be edited on the web page only; in the notebook, use the cell above.)

# %% id="timeline" tags=["timeline"]
timeline(stage=2, dp_size=4, gradient_accumulation_steps=2, num_steps=2)

# %% [markdown] id="batch" lang="zh-CN"
# ## 全局批次
#
# 为了省显存，最常动的是微批次。微批次、累积步数、数据并行度三个数一乘，就是全局批次。

# %% [markdown] id="batch" lang="en"
# ## The global batch
#
# What one changes most often to save memory is the micro-batch. Micro-batch, accumulation steps and data-parallel degree multiply to the global batch.

# %% id="predict-batch" tags=["predict"]
predict("same-batch")

# %% [markdown] id="batch-why" lang="zh-CN"
# 全局批次没变，学习率、预热步数、总步数就都不用动：每个优化器步看到的数据和以前一样。下面两份配置的全局批次相同，显存差得很多。
#
# 全局批次变了，就是另一个训练了，学习率要重新定。批次乘 k，学习率乘 k（线性规则）或乘 √k，都是经验，各有适用范围；accelerate 的文档建议按进程数乘，说的也是批次随进程数变大的情形。改批次的同时还要算总 token 数：步数不变、批次翻倍，看过的数据也翻了倍。

# %% [markdown] id="batch-why" lang="en"
# As long as the global batch is the same, learning rate, warm-up and number of steps stay: an optimizer step sees what it saw before. The two configurations below have the same global batch and very different memory.
#
# Change the global batch and it is another training, for which the learning rate has to be chosen anew. Batch times k, learning rate times k (the linear rule) or times √k: both are experience, each with its range. When accelerate's documentation suggests multiplying by the number of processes, it has a batch in mind that grows with them. And count tokens: with as many steps and twice the batch, twice the data has been seen.

# %% id="live-batch" tags=["live"]
for micro, steps in ((4, 2), (1, 8)):
    run = Training("llama-2-7b", mesh=8, stage=3, seq_length=4096,
                   micro_batch_size=micro,
                   gradient_accumulation_steps=steps)
    assert run.global_batch_size == 8 * micro * steps
    peak_gib = budget(run).peak_bytes / GIB
    print(run.global_batch_size, f"{peak_gib:.1f} GiB")

# %% [markdown] id="guess-schedule" lang="zh-CN"
# ## 走得太快的计划
#
# 全局批次没变，学习率也没改，计划写的还是原来的步数。只是这次把它交给了 accelerate。

# %% [markdown] id="guess-schedule" lang="en"
# ## A schedule that runs too fast
#
# The global batch is the same, nobody touched the learning rate, and the schedule has as many steps as before. It has merely been handed to accelerate.

# %% id="predict-schedule" tags=["predict"]
predict("same-schedule")

# %% [markdown] id="schedule" lang="zh-CN"
# Lightricks/LTX-Video-Trainer#67 报告的就是它：4 张卡，设 10k 步，学习率在 2.5k 步就到底了。accelerate 的 `scheduler.step()` 默认按进程数走那么多步（accelerate#2926 等也在问）。
#
# 这是有意的设计：维护者的意思是，计划按没分给各卡的数据集长度来写，分到 4 张卡后，一轮的步数只剩四分之一，计划就该走四倍快（accelerate#1382）。你若是按优化器步数写的计划，就被多除了一次。办法是把总步数和预热步数都乘上进程数，或者不让 accelerate 管它。
#
# 下面每行是优化器步数，线性下降的学习率（相对初值），然后是走 N 倍快的。改 N，看它在哪里到零。

# %% [markdown] id="schedule" lang="en"
# This is what Lightricks/LTX-Video-Trainer#67 reports: four cards, 10k steps configured, and the learning rate at its end after 2.5k. By default accelerate's `scheduler.step()` advances once for each process (accelerate#2926 and others ask about it).
#
# It is deliberate. As a maintainer puts it, the schedule is assumed to be written for the data set before it is split; on four cards an epoch has a quarter of the steps, so the schedule should go four times as fast (accelerate#1382). If you wrote yours in optimizer steps, it has been divided once too often. Multiply total and warm-up steps by the number of processes, or keep the scheduler out of accelerate's hands.
#
# Each line is an optimizer step, the linearly decaying rate (relative to its start), and the one that goes N times as fast. Change N and see where it reaches zero.

# %% id="live-schedule" tags=["live"]
total, N = 10_000, 4
assert optimizer_steps_of_schedule(total, N) == total // N
for step in (0, 1_000, 2_000, 2_500, 5_000, 10_000):
    rates = (max(0, 1 - step * speed / total) for speed in (1, N))
    print(f"{step:6}", *(f"{rate:5.2f}" for rate in rates))

# %% [markdown] id="guess-update" lang="zh-CN"
# ## 多走的一步
#
# 优化器的状态，要到第一次 `step()` 才建。有的框架等不及，先走一步，梯度全是零。

# %% [markdown] id="guess-update" lang="en"
# ## One step too many
#
# An optimizer makes its states in its first `step()`. Some frameworks cannot wait and take a step in advance, with gradients that are all zero.

# %% id="predict-update" tags=["predict"]
predict("same-first-update")

# %% [markdown] id="adam" lang="zh-CN"
# 我们拿 DeepSpeed 0.19.8 的阶段 0、BF16、PyTorch 的 Adam，和手写的循环逐步对照，第一次更新只有学习率的 0.744 倍。原因是框架为了建好优化器状态，先用零梯度调了一次 `step()`。矩还是零，看上去什么都没发生，可是计数器走到了 1。
#
# Adam 的第一次更新本该是 t = 1：一阶矩 0.1g 除以 0.1，二阶矩 0.001g² 除以 0.001，正好是 ±1 个学习率。现在 t = 2，分母成了 {{ 1 - 0.9 * 0.9 | num 2 }} 和 {{ 1 - 0.999 * 0.999 | num 6 }}：更新 = (0.1/0.19) / √(0.001/0.001999)。下面手算，再和程序对。多走几步会怎样？在列表里加上 10 和 100，它不是一路变小的。
#
# 阶段 1 和 2 没有这个现象：同样的测量里，第一次更新正好一个学习率。所以“换个阶段”有时也换了训练。影响只在最初几步，多半无害；但你若拿前几步的损失来对照，就会误以为分片算错了。

# %% [markdown] id="adam" lang="en"
# We compared DeepSpeed 0.19.8 at stage 0, BF16, with PyTorch's Adam, step by step with a loop written by hand. Its first update was 0.744 of the learning rate. To have the optimizer states made, the framework first calls `step()` on zero gradients. The moments stay zero and nothing seems to have happened, but the counter is at 1.
#
# Adam's first update belongs to t = 1: a first moment of 0.1g over 0.1, a second of 0.001g² over 0.001, exactly ±1 learning rate. Now t = 2, and the denominators are {{ 1 - 0.9 * 0.9 | num 2 }} and {{ 1 - 0.999 * 0.999 | num 6 }}: the update is (0.1/0.19) / √(0.001/0.001999). The cell does it by hand and holds it against the package. What do more such steps do? Add 10 and 100 to the list; it does not just keep shrinking.
#
# Stages 1 and 2 do not show this; in the same measurement their first update is one learning rate exactly. So to change the stage is sometimes to change the training. It matters for the first few steps and is mostly harmless. But if those are the steps by which you compare, you will think that sharding computes something wrong.

# %% id="live-adam" tags=["live"]
beta1, beta2 = 0.9, 0.999
for extra in (0, 1, 2):
    first = (1 - beta1) / (1 - beta1 ** (1 + extra))
    second = (1 - beta2) / (1 - beta2 ** (1 + extra))
    size = first / second**0.5
    assert abs(size - first_adam_update(beta1, beta2, extra)) < 1e-12
    print(extra, f"{size:.4f}")

# %% [markdown] id="procedure" lang="zh-CN"
# ## 一份对照清单
#
# 每次改了并行方式、阶段、微批次或框架版本，用一个小模型做一遍，几分钟就够：
#
# 1. 固定初值和数据，关掉 dropout，用 FP32。数据要有**长短不一的序列**和被掩掉的标签；
# 2. 基线：一个 rank，不分片，不累积，整个全局批次；
# 3. 打印这一步的有效 token 总数，两边相等；
# 4. 比第一步的损失；
# 5. 裁剪之前比梯度：先比范数，再比每个张量的最大差。都差同一个倍数，找分母；有的差有的不差，找漏掉的归约和权重；
# 6. 比第一次更新后的权重；
# 7. 打印学习率，至少跨过预热的终点；
# 8. 各 rank 的权重互相比，应当完全一样；
# 9. 都对了，换回 BF16 再看差是不是舍入的大小。
#
# 顺序有讲究：前一项不对，后面不用看。

# %% [markdown] id="procedure" lang="en"
# ## A list to go through
#
# Each time you change the parallel layout, the stage, the micro-batch or a framework's version, do this with a small model. It takes minutes.
#
# 1. Fix initial weights and data, dropout off, FP32. The data must have **sequences of different lengths** and masked labels;
# 2. the baseline: one rank, no sharding, no accumulation, the whole global batch;
# 3. print the valid tokens of the step: equal on both sides;
# 4. compare the loss of the first step;
# 5. before clipping, compare gradients: the norm, then the largest difference of each tensor. The same factor everywhere: look for the denominator. Some off and some not: look for weights, and for a reduction that was left out;
# 6. compare the weights after the first update;
# 7. print learning rates, at least past the end of warm-up;
# 8. compare weights between ranks: they must be identical;
# 9. when all is right, go back to BF16 and see whether the difference has the size of rounding.
#
# The order matters: if one fails, the ones after it mean nothing.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 改成累积 8 步之后，损失曲线和原来几乎重合，梯度范数却是原来的 8 倍，裁剪阈值是 1.0。可以放心吗？
#
# <details><summary>想好了再展开</summary>
#
# 不可以。正好 8 倍，说明累积时没有除以 8。Adam 掩盖了整体的倍数，所以曲线重合。可是裁剪看的是范数：真实范数 0.3 的步不该裁，现在成了 2.4，会被裁到 1.0；大大小小的步都被压到同一个长度，谁大谁小的信息丢了，Adam 的矩也跟着变。眼下重合，只说明还没走到差别显出来的地方。先改分母，再比一次梯度。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# After a change to 8 accumulation steps the loss curve lies almost on the old one, but the gradient norm is 8 times what it was, with clipping at 1.0. Is all well?
#
# <details><summary>Think first, then unfold</summary>
#
# No. A factor of exactly 8 says that nobody divided by 8. Adam hides a factor common to everything, and so the curves agree. Clipping looks at the norm, though: a step whose true norm is 0.3 should pass, and now it shows 2.4 and is cut to 1.0. Steps large and small are pressed to one length; which was larger is lost, and Adam's moments change with it. That the curves agree so far means only that the difference has not shown yet. Correct the denominator, then compare gradients again.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说按 token 归一总是最好。按序列平均是另一个目标，可以有意选它；错在以为自己没选。
# - 没有说损失或评测指标相同就够了，也没有说梯度相同就能复现整个训练：数据顺序、随机数、非确定的算子都另算。
# - 没有覆盖所有错法：权重衰减分错组、MoE 的辅助损失、跨 rank 的 BatchNorm、共享权重加了两次，都会让训练变样。模拟器认得的只有五种。
# - 没有给学习率一条可靠的换算规则。
#
# ## 资料
#
# - huggingface/transformers#24725（2023-07）：11 和 101 个 token 的例子；PR#34191（2024-10）、#35203、PR#34373：修正和后续。
# - Lightricks/LTX-Video-Trainer#67（2026-02），huggingface/accelerate#1382、#2926：按进程数走的学习率计划；`split_batches=False` 时如此。
# - Goyal 等，*Accurate, Large Minibatch SGD*，arXiv:1706.02677：线性规则和它的条件。
# - Kingma、Ba，*Adam*，arXiv:1412.6980：偏差校正。
# - 0.744 和各精度的差，是在 CPU 上用 DeepSpeed 0.19.8、PyTorch 2.13 实测的；符号相反的例子也用 PyTorch 2.13 对过。
#
# 资料核对日期：2026-09-10。框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - That normalising by tokens is always best. An average over sequences is another objective, and may be chosen. The mistake is not to know that one has chosen.
# - That an equal loss or metric is enough; nor that equal gradients make a whole run reproducible. Order of data, random numbers and non-deterministic kernels come on top.
# - All the ways to be wrong. Weight decay on the wrong group, auxiliary losses of MoE, batch norm across ranks, tied weights added twice: each changes the training. The simulator knows five.
# - A dependable rule for converting learning rates.
#
# ## Sources
#
# - huggingface/transformers#24725 (July 2023): the example with 11 and 101 tokens; PR#34191 (October 2024), #35203, PR#34373: the fix and what followed.
# - Lightricks/LTX-Video-Trainer#67 (February 2026), huggingface/accelerate#1382 and #2926: schedules stepped once for each process, with `split_batches=False`.
# - Goyal et al., *Accurate, Large Minibatch SGD*, arXiv:1706.02677: the linear rule and its conditions.
# - Kingma, Ba, *Adam*, arXiv:1412.6980: bias correction.
# - The 0.744 and the differences by precision were measured on a CPU with DeepSpeed 0.19.8 and PyTorch 2.13; the case with opposite signs was checked with PyTorch 2.13 too.
#
# Sources checked on 2026-09-10. How a framework behaves depends on the version you run.
