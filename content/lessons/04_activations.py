# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: activations
#   number: 4
#   checked: 2026-09-10
#   title:
#     en: "Activations: the account that ZeRO does not touch"
#     zh-CN: "激活：ZeRO 不碰的那本账"
#   summary:
#     en: "What forward leaves behind, what recomputation gives back and what it costs, why the bottleneck moves, and why long sequences and large vocabularies surprise people."
#     zh-CN: "前向留下什么，激活重计算省什么、花什么；瓶颈为什么会转移；长序列和大词表为什么总让人意外。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 还是 DeepSpeed#5305 那台 8×A100 的机器，同一个 7B 模型。这次只看一个开关：激活重计算（activation checkpointing）。
#
# | | 不重计算 | 重计算 | 一步用时 |
# | --- | --- | --- | --- |
# | ZeRO-2 | 62.3 G | 43.8 G | 10050 → 13194 ms |
# | ZeRO-3 | 75.2 G | 52.8 G | 10329 → 13000 ms |
#
# ZeRO 的阶段没动，rank 数没动，每张卡却少了 {{ 62.3 - 43.8 | num 1 }} G 和 {{ 75.2 - 52.8 | num 1 }} G。少掉的不是参数，不是梯度，也不是优化器状态。它记在另一本账上，前两课的公式里一个字都没有。

# %% [markdown] id="question" lang="en"
# The machine of DeepSpeed#5305 again, eight A100 and a 7B model. This time look at one switch only, activation checkpointing:
#
# | | without | with recomputation | time of a step |
# | --- | --- | --- | --- |
# | ZeRO-2 | 62.3 G | 43.8 G | 10050 → 13194 ms |
# | ZeRO-3 | 75.2 G | 52.8 G | 10329 → 13000 ms |
#
# Same ZeRO stage, same number of ranks, and yet {{ 62.3 - 43.8 | num 1 }} G and {{ 75.2 - 52.8 | num 1 }} G less on each card. What went away were no parameters, no gradients and no optimizer state. It stands in another account, of which the formulas of the last lessons do not contain a single term.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="guess-shift" lang="zh-CN"
# ## 先做一道加法
#
# 一张卡上有两项：状态和激活。ZeRO 管其中一项。

# %% [markdown] id="guess-shift" lang="en"
# ## An addition to begin with
#
# Two items lie on a card, state and activations. ZeRO looks after one of them.

# %% id="predict-shift" tags=["predict"]
predict("activations-shift")

# %% [markdown] id="shift" lang="zh-CN"
# 状态降到了六分之一，总量只从 {{ 80 * GIB | GiB 0 }} 降到 {{ 30 * GIB | GiB 0 }}。激活原来占 {{ 20 / 80 | pct 0 }}，现在占 {{ 20 / 30 | pct 0 }}。ZeRO 没有失灵，它把自己那一项几乎做完了，**瓶颈转移**到了另一项。
#
# 这时再把状态减半，总量只少 {{ 5 * GIB | GiB 0 }}；把激活减半，能少 {{ 10 * GIB | GiB 0 }}。下一步该动哪一项，看的是现在谁大，不是刚才谁大。

# %% [markdown] id="shift" lang="en"
# The state fell to a sixth, the total only from {{ 80 * GIB | GiB 0 }} to {{ 30 * GIB | GiB 0 }}. Activations were {{ 20 / 80 | pct 0 }} of it and are now {{ 20 / 30 | pct 0 }}. ZeRO did not fail; it has nearly finished its own item, and **the bottleneck has moved** to the other.
#
# Halve the state again and you gain {{ 5 * GIB | GiB 0 }}. Halve the activations and you gain {{ 10 * GIB | GiB 0 }}. What to attack next depends on what is large now, and not on what was large before.

# %% [markdown] id="why-keep" lang="zh-CN"
# ## 前向为什么要留东西
#
# 反向按链式法则从后往前算。矩阵乘 y = xW 的反向，算 W 的梯度要用 x；激活函数的反向要用它的输入；归一化的反向要用输入和每行的一个统计量。这些中间结果在前向时已经算出来了，autograd 就把它们留到反向。留下的就叫**激活**。
#
# 它的大小由三样东西决定：微批次 b、序列长度 s、模型的宽和深。和参数量没有直接关系，和数据并行的 N 也没有关系：每个 rank 拿自己的数据跑完整的层。

# %% [markdown] id="why-keep" lang="en"
# ## Why forward keeps anything
#
# Backward applies the chain rule from the end. For a product y = xW, the gradient of W needs x; an activation function needs its input; a norm needs its input and one statistic for each row. Forward has computed all of these, and autograd keeps them until backward. What is kept is called **activations**.
#
# Three things set their size: micro-batch b, sequence length s, and how wide and deep the model is. The parameter count enters only through these, and the data-parallel N not at all: each rank runs its own data through whole layers.

# %% id="predict-layer" tags=["predict"]
predict("activations-layer-7b")

# %% [markdown] id="rows" lang="zh-CN"
# 一层 15 个张量，逐个列出来。前面的宽 4096，MLP 里的宽 11008，四个最宽的就占了一半以上。`log-sum-exp` 很小，是 flash attention 代替整张概率矩阵留下的。
#
# 改一改：加上 `attention="eager"`，多出来的那行有多大？加上 `hidden_dropout=True`，多了哪几行掩码？`micro_batch_size` 改成 4，每一行都乘 4。

# %% [markdown] id="rows" lang="en"
# Fifteen tensors a layer, one by one. The first ones are 4096 wide, those of the MLP 11008, and the four widest make up more than half. `log-sum-exp` is tiny: it is what flash attention keeps instead of a whole matrix of probabilities.
#
# Change it: add `attention="eager"`; how large is the row that appears? Add `hidden_dropout=True`; which masks? With a `micro_batch_size` of 4 every row is four times as large.

# %% id="live-rows" tags=["live"]
settings = ActivationSettings(micro_batch_size=1, seq_length=4096)
layer = layer_activations(preset("llama-2-7b").model, settings)
for row in layer.rows:
    print(f"{row.num_bytes / 1e6:6.1f} MB  {row.op}: {row.tensor}")
print(f"{layer.num_bytes / 1e6:6.1f} MB, 32 × = {32 * layer.num_bytes / GIB:.1f} GiB")

# %% [markdown] id="not-sharded" lang="zh-CN"
# 32 层一共 {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(1, 4096)).num_bytes | GiB 1 }}，只是一条序列。把它和阶段 3 的状态放在一起：微批次 4，N 从 1 到 512。每行是 N、状态、激活、激活占两者之和的比例。

# %% [markdown] id="not-sharded" lang="en"
# All 32 layers keep {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(1, 4096)).num_bytes | GiB 1 }}, for one sequence. Put that beside the state of stage 3, with a micro-batch of 4 and N from 1 to 512. Each line is N, state, activations, and the share of activations in their sum.

# %% id="live-shift" tags=["live"]
settings = ActivationSettings(micro_batch_size=4, seq_length=4096)
kept = 32 * layer_activations(preset("llama-2-7b").model, settings).num_bytes
for N in (1, 8, 64, 512):
    shards = ledger(model="llama-2-7b", dp_size=N, stage=3)
    state = shards.model_states_bytes_per_rank
    print(f"{N:3} {state / GIB:6.1f} {kept / GIB:6.1f} GiB {kept / (state + kept):6.1%}")

# %% [markdown] id="checkpointing" lang="zh-CN"
# ## 激活重计算：少存，反向时再算
#
# 既然激活都能从这一层的输入算出来，那就只留输入，反向走到这一层时，把它的前向再跑一遍。留下的输入叫检查点，所以也叫 activation checkpointing。省的是显存，花的是计算。
#
# 32 层各留一个输入，反向时再加上正在重算的那一层。估一估。

# %% [markdown] id="checkpointing" lang="en"
# ## Recomputation: keep less, compute it again
#
# All of a layer's activations follow from its input. So keep the input alone, and when backward reaches the layer, run its forward once more. The inputs that are kept are the checkpoints, hence the other name, activation checkpointing. It saves memory and costs arithmetic.
#
# 32 layers keep one input each, and in backward there is the layer that is being recomputed as well. Estimate.

# %% id="predict-checkpointed" tags=["predict"]
predict("activations-checkpointed")

# %% [markdown] id="modes" lang="zh-CN"
# 三种做法并排看：不重计算（none）、只重算注意力核心（selective）、整层重算（full）。每行是做法、一层留下的、反向到这一层时在场的。
#
# 先看 flash：selective 几乎没省，因为 flash attention 本来就不留概率矩阵，没有什么可重算的。再把 `"flash"` 换成 `"eager"`，selective 才显出用处。2022 年提出 selective 的论文面对的正是后一种情形。

# %% [markdown] id="modes" lang="en"
# Three ways side by side: keep all (none), recompute the attention core (selective), recompute the layer (full). Each line is the way, what a layer keeps, and what is live when backward is in that layer.
#
# With flash first: selective saves next to nothing, because flash attention keeps no matrix of probabilities and leaves nothing to recompute. Then replace `"flash"` by `"eager"` and selective shows its worth. That was the situation of the 2022 paper which proposed it.

# %% id="live-modes" tags=["live"]
model, attention = preset("llama-2-7b").model, "flash"
for recompute in ("none", "selective", "full"):
    settings = ActivationSettings(1, 4096, attention=attention, recompute=recompute)
    layer = layer_activations(model, settings)
    kept, live = layer.num_bytes, layer.recomputed_bytes
    print(f"{recompute:>9} {kept / 1e6:7.1f} {live / 1e6:7.1f} MB")

# %% [markdown] id="cost" lang="zh-CN"
# ## 花了多少
#
# 一步里，反向的计算量约是前向的两倍：前向 1 份，反向 2 份，共 3 份。整层重算多跑一遍前向，变成 4 份，多 {{ 1 / 3 | pct 0 }}。开头的表里，ZeRO-2 从 10050 到 13194 毫秒，多 {{ 13194 / 10050 - 1 | pct 0 }}；ZeRO-3 多 {{ 13000 / 10329 - 1 | pct 0 }}。前一个几乎就是三分之一，后一个少一些，多算的那遍有一部分时间大概本来就在等通信。
#
# 所以重计算不是免费的午餐，但价钱是明码标的。它可以和任何 ZeRO 阶段一起用，省的是另一本账：状态那一行，一个字节都不会变。

# %% [markdown] id="cost" lang="en"
# ## What it costs
#
# In a step, backward does about twice the arithmetic of forward: 1 part plus 2 parts, 3 in all. Full recomputation runs forward once more and makes it 4, {{ 1 / 3 | pct 0 }} more. In the table at the top ZeRO-2 goes from 10050 to 13194 milliseconds, {{ 13194 / 10050 - 1 | pct 0 }} more, and ZeRO-3 {{ 13000 / 10329 - 1 | pct 0 }}. The first is nearly the third that we expect. The second is less; presumably part of the extra pass fits into time that was spent waiting for communication.
#
# So recomputation has a price, and the price is marked. It works with any ZeRO stage, and it saves in the other account: the state does not change by a single byte.

# %% [markdown] id="watch" lang="zh-CN"
# ## 看它变形
#
# 下面是一个小 transformer 在 4 个虚拟 rank 上的一步，阶段 3，不重计算。激活像一座山：前向一层层堆上去，反向一层层拆下来。
#
# 把激活重计算从“关”换成“完全”：山不见了，变成一排尖。每层前向算完，激活随手放掉，只留下输入；反向到这一层，整层激活重新出现一次，又放掉。尖的高度就是一层，时间轴也长了一截。虚线（静态状态）始终没有动。然后把微批次往上加，看哪些颜色跟着长，哪些不动。

# %% [markdown] id="watch" lang="en"
# ## Watch it change shape
#
# One step of a small transformer on four virtual ranks, stage 3, nothing recomputed. Activations look like a hill: forward piles them up layer by layer, backward takes them down.
#
# Switch activation checkpointing from off to full. The hill turns into a row of spikes. After its forward a layer lets its activations go and keeps its input; when backward arrives, the whole layer appears once more and goes again. A spike is as high as one layer, and the time axis gets longer. The dashed line, the static state, has not moved. Then raise the micro-batch and see which colours grow and which do not.

# %% id="timeline" tags=["timeline"]
timeline(model="transformer", stage=3, dp_size=4, seq_length=12,
         recompute="none", gradient_accumulation_steps=1, num_steps=1)

# %% [markdown] id="long" lang="zh-CN"
# ## 长序列
#
# 多数激活每个 token 一行，s 翻倍就翻倍。有一项例外。

# %% [markdown] id="long" lang="en"
# ## Long sequences
#
# Most activations have one row for each token and double with s. One of them does not.

# %% id="predict-sequence" tags=["predict"]
predict("activations-sequence")

# %% [markdown] id="long-table" lang="zh-CN"
# 未融合的注意力要留下每个头的 s × s 概率矩阵，所以早年的长序列训练几乎都卡在它上面。flash attention 分块计算，不留这张矩阵，平方项没了，线性项还在。
#
# 下面是 32 层一共留下的激活。每行是 s，然后是 eager、flash、flash 加整层重算。s 到 32768 时，flash 也要 {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(1, 32768)).num_bytes | GiB 0 }}：就算 ZeRO 把状态分到几乎为零，这张卡还是放不下。长序列时激活当家，靠的是重计算、序列并行（第 6 课）和卸载（第 5 课）。

# %% [markdown] id="long-table" lang="en"
# Unfused attention keeps an s × s matrix of probabilities for each head, and that is what long sequences used to run into. Flash attention works in blocks and does not keep the matrix. The square is gone; the linear part is still there.
#
# The cell shows what all 32 layers keep: s, then eager, flash, and flash with full recomputation. At s = 32768 even flash needs {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(1, 32768)).num_bytes | GiB 0 }}. ZeRO may have sharded the state to almost nothing, and still the run does not fit. With long sequences activations rule, and what helps are recomputation, sequence parallelism (lesson 6) and offload (lesson 5).

# %% id="live-long" tags=["live"]
model = preset("llama-2-7b").model
for s in (4096, 8192, 16384, 32768):
    runs = (ActivationSettings(1, s, attention="eager"), ActivationSettings(1, s),
            ActivationSettings(1, s, recompute="full"))
    sizes = [32 * layer_activations(model, run).num_bytes / GIB for run in runs]
    print(f"{s:6}", *(f"{size:7.1f}" for size in sizes), "GiB")

# %% [markdown] id="logits" lang="zh-CN"
# ## logits：一层没数到的账
#
# 最后一层之后，输出头给每个 token 算出整个词表的分数，就是 logits。它不在任何一层里，容易漏数，而词表越来越大。
#
# huggingface/transformers#33902 去掉了一行 `logits.float()`：Llama 3.1 8B 推理的峰值从 {{ "18.5 GiB" }} 降到 {{ "10.6 GiB" }}。少的正是一份 FP32 副本，每个 token 每个词 4 字节；反推回去，那次大约有 {{ (18.5 - 10.6) * GIB / 4 / 128256 | num 0 }} 个 token（PR 的说明里没有写，是我们算的）。
#
# 那是推理。训练还要算损失，再往回传，同样形状的张量不止一份。

# %% [markdown] id="logits" lang="en"
# ## Logits: the account outside every layer
#
# After the last layer the head scores the whole vocabulary for each token: the logits. They belong to no layer, are easily left out, and vocabularies keep growing.
#
# huggingface/transformers#33902 removed one line, `logits.float()`, and the peak of an inference run of Llama 3.1 8B went from {{ "18.5 GiB" }} to {{ "10.6 GiB" }}. What went was one FP32 copy, 4 bytes for each token and each entry of the vocabulary. Solve for the tokens and there were about {{ (18.5 - 10.6) * GIB / 4 / 128256 | num 0 }} (our arithmetic; the description does not say).
#
# That was inference. Training computes a loss from them and comes back, with more than one tensor of that shape.

# %% id="predict-logits" tags=["predict"]
predict("activations-logits")

# %% [markdown] id="logits-why" lang="zh-CN"
# 每个 token、每个词，峰值时活着 14 字节，而常见的估算器只写 4。8192 个 token 就是 {{ loss_account(LossSettings(8192, 128256, 4096)).peak_bytes | GB 1 }}，比第 3 课里收集一整层还多几十倍。它出现在前向和反向的交界，那时各层的激活也最满。
#
# 办法是切块：一次只算一部分 token 的 logits 和损失，反向时再算一遍。下面每行是块数和峰值。块数再大，也有一部分不再降，那是输出头的梯度，整个词表一份。

# %% [markdown] id="logits-why" lang="en"
# At the peak 14 bytes are live for each token and vocabulary entry, where common estimators write 4. For 8192 tokens that is {{ loss_account(LossSettings(8192, 128256, 4096)).peak_bytes | GB 1 }}, dozens of times what gathering a whole layer took in lesson 3. And it comes where forward turns into backward, just when the layers' activations are at their fullest too.
#
# The remedy is to cut: compute logits and loss for some of the tokens at a time, and again in backward. Each line of the cell is a number of chunks and the peak. Past some number it stops falling; what remains is the gradient of the head, one for the whole vocabulary.

# %% id="live-logits" tags=["live"]
for chunks in (1, 2, 8, 32, 128):
    loss = LossSettings(tokens=8192, vocab_size=128_256, hidden_size=4096,
                        num_chunks=chunks)
    top = loss_account(loss).peak
    print(f"{chunks:4} {top.num_bytes / GB:6.2f} GB  {top.name}")

# %% [markdown] id="order" lang="zh-CN"
# ## 激活太大，先动哪里
#
# 1. 先量：峰值在哪个时刻，那一刻谁最大。
# 2. 注意力还是未融合的，先换 flash。
# 3. logits 占大头，切块算损失。
# 4. 减小微批次，加大累积步数。激活和微批次成正比，全局批次可以不变（第 9 课讲怎样才真的不变）。
# 5. 还不够，就打开重计算，付那三分之一。
# 6. 单条序列就放不下，要靠序列并行或卸载。

# %% [markdown] id="order" lang="en"
# ## Activations are too large: where to begin
#
# 1. Measure: at which instant is the peak, and what is largest then?
# 2. If attention is unfused, change to flash.
# 3. If the logits dominate, compute the loss in chunks.
# 4. Make the micro-batch smaller and accumulate more steps. Activations follow the micro-batch; the global batch can stay the same (lesson 9 says what it takes for that to be true).
# 5. If that is not enough, recompute, and pay the third.
# 6. If a single sequence does not fit, it takes sequence parallelism or offload.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 你把 rank 从 8 加到 64，阶段 3，显存从 {{ "92 GiB" }} 只降到 {{ "81 GiB" }}。同事说 ZeRO-3 坏了。你会先算哪两个数？
#
# <details><summary>想好了再展开</summary>
#
# 先算状态在 N = 8 和 N = 64 时各是多少，再算激活。若是 Llama 2 7B，微批次 4、序列长度 4096、不重计算：状态从 {{ ledger(model="llama-2-7b", dp_size=8, stage=3) | GiB 1 }} 降到 {{ ledger(model="llama-2-7b", dp_size=64, stage=3) | GiB 1 }}，确实是八分之一，少了 {{ ledger(model="llama-2-7b", dp_size=8, stage=3).model_states_bytes_per_rank - ledger(model="llama-2-7b", dp_size=64, stage=3).model_states_bytes_per_rank | GiB 0 }}；各层激活一直是 {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(4, 4096)).num_bytes | GiB 0 }}，一点没变。降下来的正好是状态那一份，ZeRO 没坏，瓶颈早就不在它那里了。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# You go from 8 to 64 ranks at stage 3 and the memory falls only from {{ "92 GiB" }} to {{ "81 GiB" }}. A colleague says ZeRO-3 is broken. Which two numbers do you compute first?
#
# <details><summary>Think first, then unfold</summary>
#
# The state at N = 8 and at N = 64, and the activations. For Llama 2 7B with a micro-batch of 4, sequences of 4096 and no recomputation, the state goes from {{ ledger(model="llama-2-7b", dp_size=8, stage=3) | GiB 1 }} to {{ ledger(model="llama-2-7b", dp_size=64, stage=3) | GiB 1 }}, a true eighth and {{ ledger(model="llama-2-7b", dp_size=8, stage=3).model_states_bytes_per_rank - ledger(model="llama-2-7b", dp_size=64, stage=3).model_states_bytes_per_rank | GiB 0 }} less. The layers' activations are {{ 32 * layer_activations(preset("llama-2-7b").model, ActivationSettings(4, 4096)).num_bytes | GiB 0 }} before and after. What fell is exactly the state's share. ZeRO is fine; the bottleneck left it long ago.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说你的实现恰好留下这 15 个张量。融合的 MLP、别的归一化、编译器都会改变它；模型不同，行也不同。
# - 没有把张量并行、序列并行、流水线算进来，它们会切激活，见第 6 课。
# - 没有说开头那张表里少掉的 18.5 G 和 22.4 G 各由哪几项构成。帖子没有给出序列长度和完整配置。
# - 没有算矩阵乘法的工作区和分配器的空隙。
#
# ## 资料
#
# - Korthikanti 等，*Reducing Activation Recomputation in Large Transformer Models*，arXiv:2205.05198：sbh(34 + 5as/h) 与 selective。
# - Chen 等，*Training Deep Nets with Sublinear Memory Cost*，arXiv:1604.06174：重计算的想法。
# - Dao 等，*FlashAttention*，arXiv:2205.14135：不留概率矩阵的注意力。
# - huggingface/transformers PR#33902（2024-10）：推理时去掉 `logits.float()` 的前后读数。
# - deepspeedai/DeepSpeed#5305（2024-03）：重计算前后的显存和用时。
# - 每行激活和 logits 的字节数由本站的程序算出，在 CPU 上与 PyTorch 2.13 的 autograd 实测对过。
#
# 资料核对日期：2026-09-10。对报告的解释是我们的推断；框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - That your implementation keeps exactly these fifteen tensors. Fused MLPs, other norms and compilers change them, and so does the model.
# - What tensor, sequence and pipeline parallelism do to activations. They cut them; lesson 6.
# - What the 18.5 G and 22.4 G that went away in the first table are made of. The post gives neither the sequence length nor the full configuration.
# - Workspaces of matrix products, and the allocator's gaps.
#
# ## Sources
#
# - Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, arXiv:2205.05198: sbh(34 + 5as/h), and selective recomputation.
# - Chen et al., *Training Deep Nets with Sublinear Memory Cost*, arXiv:1604.06174: the idea of recomputing.
# - Dao et al., *FlashAttention*, arXiv:2205.14135: attention that keeps no matrix of probabilities.
# - huggingface/transformers PR#33902 (October 2024): inference with and without `logits.float()`.
# - deepspeedai/DeepSpeed#5305 (March 2024): memory and time with and without recomputation.
# - The bytes of activations and logits are computed by this site's package and were compared with autograd of PyTorch 2.13 on a CPU.
#
# Sources checked on 2026-09-10. How the reports are explained is our inference; how a framework behaves depends on the version you run.
