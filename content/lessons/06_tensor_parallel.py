# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: tensor-parallel
#   number: 6
#   checked: 2026-09-10
#   title:
#     en: "When one layer does not fit"
#     zh-CN: "一层就放不下，怎么办"
#   summary:
#     en: "Tensor parallelism cuts the layer itself, sequence parallelism what it left whole, recomputation what is kept at all. What each divides, what none divides, and how they combine with ZeRO."
#     zh-CN: "张量并行切开层本身，序列并行切开它留下的整份，重计算干脆少存。三者各除以什么，谁都不除的是什么，怎样和 ZeRO 叠在一起。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# EleutherAI/cookbook 的 issue #36：有人用它的显存计算器算 Qwen1.5-72B，打印出来却只有 56.19B 参数。cli99/llm-analysis 的 issue #19：有人读代码，发现归一化层的权重也被除以了张量并行度，问这对不对。
#
# 两个问题其实是同一个：**一层里到底有哪些矩阵，张量并行切的是哪些？** 这件事平时可以含糊，到了最大的模型上就不行了，因为那时放不下的往往就是一层。

# %% [markdown] id="question" lang="en"
# Issue #36 of EleutherAI/cookbook: someone feeds Qwen1.5-72B to its memory calculator and gets 56.19B parameters. Issue #19 of cli99/llm-analysis: someone reads the code, finds the weights of the norms divided by the tensor-parallel degree, and asks whether that is right.
#
# Both ask the same thing: **which matrices are there in a layer, and which of them does tensor parallelism cut?** With a small model one can stay vague about it. With the largest ones the thing that does not fit may well be a single layer.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import explore, parallel, predict, use_language

use_language(LANG)

# %% [markdown] id="floor" lang="zh-CN"
# ## ZeRO 能把柱子压到多低
#
# Llama 3.1 405B，512 个 rank，阶段 3：柱子只有 {{ ledger(PRESETS["llama-3.1-405b"].num_params, 512, 3) | GB 1 }}，{{ "24 GB" }} 的卡也在虚线以下。把 N 拖到 1024，它还能再减一半。
#
# 那么一张 {{ "24 GB" }} 的卡就够了吗？先想想，算到某一层的时候，显存里有什么。

# %% [markdown] id="floor" lang="en"
# ## How low ZeRO brings the bar
#
# Llama 3.1 405B, 512 ranks, stage 3: the bar is down to {{ ledger(PRESETS["llama-3.1-405b"].num_params, 512, 3) | GB 1 }}, below even the line of a {{ "24 GB" }} card. Move N to 1024 and it halves again.
#
# So will a {{ "24 GB" }} card do? Think of what lies in its memory while one layer computes.

# %% id="explore" tags=["explore"]
explore(model="llama-3.1-405b", dp_size=512, stage=3)

# %% id="predict-layer" tags=["predict"]
predict("tp-layer-405b")

# %% [markdown] id="layer-why" lang="zh-CN"
# 这个数里没有 N。平时每个 rank 只存 1/N，可矩阵乘法要的是整个矩阵，所以计算时那一层必须完整地在场（第 3 课）。反向时还不止一份：根单元、当前层、预取的下一层，再加上一层等着归约的完整梯度。

# %% [markdown] id="layer-why" lang="en"
# There is no N in that number. Between uses a rank stores 1/N, but a matrix product needs the matrix, so the layer has to be there in full while it computes (lesson 3). Backward holds more than one: the root unit, the current layer, the next one being prefetched, and the full gradient of a layer that waits for its reduction.

# %% id="live-transient" tags=["live"]
root, layer = gather_units(PRESETS["llama-3.1-405b"].model)
backward = fsdp_backward_instant(root, layer, reduce_dtype="fp32")
for row in backward.rows:
    print(f"{format_bytes(row.num_bytes, 'GB', 2):>9}  {row.what}")
print(format_bytes(backward.num_bytes, "GB", 2))

# %% [markdown] id="transient-read" lang="zh-CN"
# 合计 {{ fsdp_backward_instant(4202708992, 3187703808).num_bytes | GB 1 }}，是分片状态的两倍多，而且加多少张卡都不会变。把 `reduce_dtype` 换成 `"bf16"`，或者加上 `prefetch_depth=0`，能省一些，代价是精度或等待。再往下，就只能让**层本身变小**。

# %% [markdown] id="transient-read" lang="en"
# That makes {{ fsdp_backward_instant(4202708992, 3187703808).num_bytes | GB 1 }}, more than twice the sharded states, and no number of cards changes it. With `reduce_dtype="bf16"` or `prefetch_depth=0` it shrinks somewhat, at the price of precision or of waiting. Below that, only one thing helps: make **the layer itself** smaller.

# %% [markdown] id="cut" lang="zh-CN"
# ## 张量并行怎么切
#
# 张量并行（tensor parallelism，TP）把一个矩阵乘法分给 t 个 rank 一起做，谁都不需要整个矩阵。做法是成对地切：
#
# - 前一个矩阵按**列**切。每个 rank 拿到全部输入，算出一部分输出：几个注意力头，或者 MLP 中间的几列。
# - 后一个矩阵按**行**切。每个 rank 拿自己那部分输出接着乘，得到一个“部分和”。
# - 一次 all-reduce 把部分和加起来，每个 rank 又都有了完整的结果。
#
# 注意力一对，MLP 一对，所以前向每层两次 all-reduce，反向再两次。权重始终不动，动的是激活。
#
# 切得开的：注意力头、MLP 的列、词表的行。**切不开的：归一化的权重**，因为每个 rank 都要用整个 h 维去归一化；还有混合专家的路由器、加在求和之后的偏置、可学习的位置嵌入。它们在每个 rank 上都是整份。

# %% [markdown] id="cut" lang="en"
# ## How tensor parallelism cuts
#
# Tensor parallelism (TP) splits one matrix product among t ranks so that nobody needs the whole matrix. It cuts in pairs:
#
# - The first matrix is cut by **columns**. Every rank takes the whole input and produces part of the output: a few attention heads, or a few columns in the middle of the MLP.
# - The second is cut by **rows**. Every rank goes on with its own part and gets a partial sum.
# - An all-reduce adds the partial sums, and every rank has the full result again.
#
# One pair for attention, one for the MLP: two all-reduces a layer forward and two backward. The weights never move. Activations do.
#
# What can be cut: heads, MLP columns, rows of the vocabulary. **What stays whole: the weights of the norms**, because every rank normalises over all of h; also a mixture's router, biases added after the sum, and learned positions. Those are complete on every rank.

# %% [markdown] id="guess-weights" lang="zh-CN"
# 那个 56.19B 是怎么来的？Qwen 的 MLP 是门控的，有三个矩阵；计算器按两个算：{{ ((4 * 8192 * 8192 + 2 * 8192 * 24576) * 80 + 2 * 152064 * 8192) / 1e9 | num 2 }}B，差的零头是些小张量。补上第三个，就是 {{ ((4 * 8192 * 8192 + 3 * 8192 * 24576) * 80 + 2 * 152064 * 8192) / 1e9 | num 2 }}B。（后来的 PR #37 给它加了一个参数。）下面换成同一家的 Qwen2.5-72B，你来算一个 rank 的权重。

# %% [markdown] id="guess-weights" lang="en"
# Where did 56.19B come from? Qwen's MLP is gated and has three matrices; the calculator assumed two: {{ ((4 * 8192 * 8192 + 2 * 8192 * 24576) * 80 + 2 * 152064 * 8192) / 1e9 | num 2 }}B, small tensors aside. With the third it is {{ ((4 * 8192 * 8192 + 3 * 8192 * 24576) * 80 + 2 * 152064 * 8192) / 1e9 | num 2 }}B. (PR #37 later gave it an option.) Now work out one rank's weights for a sister model, Qwen2.5-72B.

# %% id="predict-weights" tags=["predict"]
predict("tp-weights-72b")

# %% [markdown] id="norms" lang="zh-CN"
# ## 归一化该不该除
#
# 不该除。手算一遍 Llama-2-70B：每层两个归一化，最后还有一个，各 8192 个权重。切开其余的，归一化整份留下，和程序对一对。

# %% [markdown] id="norms" lang="en"
# ## Should the norms be divided?
#
# They should not. Do Llama-2-70B by hand: two norms a layer and one at the end, 8192 weights each. Cut the rest, keep the norms whole, and compare with the package.

# %% id="live-norms" tags=["live"]
model = PRESETS["llama-2-70b"].model
norms = (2 * model.num_layers + 1) * model.hidden_size
local = norms + (model.num_params - norms) // 8
assert local == mesh_ledger(model, Mesh(tp=8)).rows[0].numel_per_rank
print(f"{norms:,}", f"{local:,}", f"{8 * local - model.num_params:,}")

# %% [markdown] id="norms-read" lang="zh-CN"
# 归一化一共才 {{ (2 * 80 + 1) * 8192 | count }} 个参数，除不除，每个 rank 的状态只差 {{ 16 * 7 * (2 * 80 + 1) * 8192 // 8 | MB 1 }}。#19 问得对，但显存上看不出来。真正该记住的是它的后果：这些权重在每个 TP rank 上各有一份，**必须始终相同**。此刻每个 rank 看到的输入一样，算出的梯度也一样；下面的序列并行会打破这一点。
#
# 再试一个会露出来的例子：把三处 8 都换成 16。Llama-2-70B 只有 8 个键值头，TP 为 16 时，每个头要复制给两个 rank，断言不再成立。

# %% [markdown] id="norms-read" lang="en"
# All norms together have {{ (2 * 80 + 1) * 8192 | count }} parameters; dividing them or not changes a rank's state by {{ 16 * 7 * (2 * 80 + 1) * 8192 // 8 | MB 1 }}. The question in #19 is right, and the memory hardly shows it. What to remember is the consequence: these weights exist once on every TP rank and **must stay equal**. So far every rank sees the same input and computes the same gradient for them; sequence parallelism, below, ends that.
#
# For a case that does show, write 16 for each of the three 8s. Llama-2-70B has only 8 key/value heads; at TP 16 each of them is copied to two ranks, and the assertion no longer holds.

# %% [markdown] id="combine" lang="zh-CN"
# ## 和 ZeRO 叠起来
#
# 64 张卡可以排成 TP × DP 的网格。顺序是：TP 先切，ZeRO 再在数据并行组里分摊**剩下的那份**。除以哪个数，要看那一行是被哪个组分的。

# %% [markdown] id="combine" lang="en"
# ## On top of each other: TP and ZeRO
#
# 64 cards can be arranged as a grid of TP × DP. TP cuts first, and ZeRO shares out **what is left** within the data-parallel group. Which number divides a row depends on which group shards it.

# %% id="predict-states" tags=["predict"]
predict("tp-states-70b")

# %% id="live-grid" tags=["live"]
model = PRESETS["llama-2-70b"].model
for tp in (1, 2, 4, 8, 16):
    mesh = Mesh(dp=64 // tp, tp=tp)
    books = [mesh_ledger(model, mesh, stage) for stage in range(4)]
    sizes = [book.model_states_bytes_per_rank for book in books]
    print(f"{tp:2}", *(f"{size / GB:8.1f} GB" for size in sizes))

# %% [markdown] id="grid-read" lang="zh-CN"
# 每行是一种排法，四列是阶段 0 到 3。看最右一列：**阶段 3 时，TP 从 1 到 8，状态几乎不变**，都是 16P/64。TP 在状态上抢的是阶段 1、2 的活；跟阶段 3 搭配时，它的好处在别处：收集的那一层小了 t 倍，激活也小了。
#
# 再看左边：TP 8 加阶段 1，就已经比没有 TP 的阶段 2 小得多，数据并行那部分的通信也简单。大规模训练常用这个组合。
#
# 常见的错是除两遍。cookbook 的那个脚本（版本 827ee3b）在 TP = 8、8 张卡、阶段 3 时，把权重先除以 TP，再除以全部 8 张卡，得到六十四分之一。可 8 张卡全给了 TP，数据并行度是 1，ZeRO 已经没有可分的了。

# %% [markdown] id="grid-read" lang="en"
# A row for each layout, columns for stages 0 to 3. Look at the last column: **at stage 3 the states hardly change between TP 1 and TP 8**; it is 16P/64 throughout. On the states, TP does what stages 1 and 2 would do. Next to stage 3 its merit lies elsewhere: the gathered layer is t times smaller, and so are most activations.
#
# Now the left side. TP 8 with stage 1 is already far below stage 2 without TP, and its data-parallel traffic is simpler. Large runs often use that pair.
#
# The classic mistake is to divide twice. The cookbook's script (version 827ee3b), given TP = 8 on 8 cards at stage 3, divides the weights by TP and again by all 8 cards: one sixty-fourth. But TP has used up the 8 cards; the data-parallel degree is 1, and nothing is left for ZeRO to divide.

# %% [markdown] id="activations" lang="zh-CN"
# ## 激活：TP 留下的整份
#
# TP 切开了层的中间，层的两头却没切。每个 rank 都拿到完整的输入，归一化也各算各的，于是这些激活每个 rank 都存一整份。论文里的式子 sbh(10 + 24/t + 5as/ht)，那个不被 t 除的 10 就是它们。
#
# 先猜：TP = 8，激活会降到八分之一吗？

# %% [markdown] id="activations" lang="en"
# ## Activations: what TP leaves whole
#
# TP cuts the middle of a layer and leaves its two ends alone. Every rank gets the whole input and computes the norms by itself, so every rank keeps those activations in full. In the paper's formula, sbh(10 + 24/t + 5as/ht), they are the 10 that no t divides.
#
# Guess first: at TP = 8, do activations fall to an eighth?

# %% id="predict-activations" tags=["predict"]
predict("tp-activations-70b")

# %% id="live-kept" tags=["live"]
model = PRESETS["llama-2-70b"].model
settings = ActivationSettings(
    1, 4096, tp_size=8, sequence_parallel=False)
for row in layer_activations(model, settings).kept_rows:
    cut_by = "+".join(row.divided_by)
    size = format_bytes(row.num_bytes, "MB", 1)
    print(f"{size:>7}  {cut_by:5}  {row.op}: {row.tensor}")

# %% [markdown] id="sp" lang="zh-CN"
# 四行 {{ 2 * 4096 * 8192 | MB 1 }} 的就是没被 TP 切开的：两个归一化的输入，和归一化之后喂给注意力、MLP 的输入。它们占了这一层的三分之二。
#
# **序列并行**（sequence parallelism，SP）补上这个缺口。归一化对每个位置独立，所以可以按序列位置分：每个 rank 只管 s/t 个位置。进矩阵之前 all-gather 拼齐，出来时用 reduce-scatter 代替 all-reduce。把上面的 `sequence_parallel` 改成 `True`，看 `sp` 那几行。归一化的权重仍是整份，但每个 rank 只见过一部分位置，所以它们的梯度要在 TP 组里再加一次，漏掉这一步，各 rank 的归一化权重就会慢慢走散。
#
# 再和第 4 课的重计算摆在一起，看三个开关怎么叠：

# %% [markdown] id="sp" lang="en"
# The four rows of {{ 2 * 4096 * 8192 | MB 1 }} are those that TP did not cut: the inputs of both norms, and what they hand to attention and MLP. They are two thirds of the layer.
#
# **Sequence parallelism** (SP) closes the gap. A norm treats every position by itself, so positions can be shared out: s/t for each rank. An all-gather puts them together before the matrices, and a reduce-scatter takes the place of the all-reduce after them. Set `sequence_parallel` to `True` above and watch the rows marked `sp`. The norms' weights are still whole, but each rank has now seen only some of the positions, so their gradients must be added up within the TP group. Leave that out and the copies drift apart.
#
# With recomputation from lesson 4 there are three switches. This is how they combine:

# %% id="live-switches" tags=["live"]
model = PRESETS["llama-2-70b"].model
both = {"tp_size": 8, "sequence_parallel": True}
for mode in ("none", "full"):
    for each in ({}, {"tp_size": 8}, both):
        settings = ActivationSettings(1, 4096, recompute=mode, **each)
        kept = 80 * layer_activations(model, settings).num_bytes
        print(f"{mode:5}{kept / GB:7.1f} GB  {each}")

# %% [markdown] id="switches-read" lang="zh-CN"
# 完全重计算只留层的输入，TP 切不到它，所以第四行和第五行一样大；只有 SP 能再除以 8。顺序因此很清楚：先 TP + SP，还不够再加重计算。选择性重计算只省注意力分数那一项，用 flash attention 时那一项本来就不存，开了也几乎没有变化。
#
# 微批次、序列变长时，这张表整体按比例放大，ZeRO 的阶段对它没有影响。

# %% [markdown] id="switches-read" lang="en"
# Full recomputation keeps only the layer inputs, and TP does not reach those: rows four and five are equal, and SP alone divides them by 8. Hence the order: TP with SP first, recomputation if that is not enough. Selective recomputation saves just the attention scores; flash attention never stores them, so with it there is hardly anything to gain.
#
# A larger micro-batch or a longer sequence scales the whole table. The ZeRO stage does not appear in it.

# %% [markdown] id="together" lang="zh-CN"
# ## 三样叠在一根柱子里
#
# 64 张卡，每根柱子是一种 TP，剩下的卡都给数据并行；最上面那一段是激活。换着开关看三件事：阶段 1 换成阶段 3，哪一段矮下去，TP 的好处还剩什么？只开序列并行，TP 1 那根柱子为什么不动？完全重计算之后，再开序列并行还值不值？

# %% [markdown] id="together" lang="en"
# ## All three in one bar
#
# 64 cards, a bar for each TP degree, whatever TP leaves goes to data parallelism; the last piece of a bar is activations. Three things to try. Go from stage 1 to stage 3: which piece shrinks, and what is left for TP to do? Switch on sequence parallelism alone: why does the bar of TP 1 not move? With full recomputation, is sequence parallelism still worth having?

# %% id="parallel" tags=["parallel"]
parallel(model="llama-2-70b", tp_size=8, stage=1)

# %% [markdown] id="price" lang="zh-CN"
# ## 价钱：通信在关键路径上
#
# ZeRO-3 送的是参数，可以提前送，藏在计算后面。TP 送的是激活，下一个矩阵乘法就等着它，藏不住。一次前向加反向要送多少？

# %% [markdown] id="price" lang="en"
# ## The price: communication on the critical path
#
# ZeRO-3 sends parameters, which can be sent early and hidden behind computing. TP sends activations that the next matrix product is waiting for. How much is it for one forward and backward pass?

# %% id="predict-traffic" tags=["predict"]
predict("tp-traffic-70b")

# %% id="live-links" tags=["live"]
model = PRESETS["llama-2-70b"].model
flops = step_flops(model, micro_batch_size=1, seq_length=4096)
computing = compute_s(flops.hardware_flops, "a100") / 8
traffic = tensor_parallel(1, 4096, model.hidden_size, 8, num_layers=80)
print(f"{computing:5.2f} s  a100, peak")
for link in ("nvlink-a100", "pcie4-x16", "infiniband-hdr"):
    print(f"{traffic.lower_bound_s(link):5.2f} s  {link}")

# %% [markdown] id="links-read" lang="zh-CN"
# 第一行是八张 A100 按峰值分着算的时间，后面是送激活至少要多久。NVLink 上是计算的一小部分，换成 PCIe 或跨机器的 InfiniBand，通信反倒比计算还长。所以 TP 一般不出一台机器，t 不超过机内的卡数；机器之间交给数据并行和流水线。
#
# 把微批次（`micro_batch_size=1` 和 `tensor_parallel` 的第一个参数）一起改大：计算和通信同比增长，比例不变。TP 的通信随 token 增长，ZeRO 的不随，第 7 课会用到这个差别。

# %% [markdown] id="links-read" lang="en"
# The first line is the computing shared by eight A100s at their peak; below it, the least time to send the activations. Over NVLink it is a fraction of the computing. Over PCIe, or InfiniBand between machines, it takes longer than the computing itself. That is why TP usually stays inside a node, t at most the cards of one machine, and data or pipeline parallelism goes between machines.
#
# Raise the micro-batch in both calls (`micro_batch_size=1`, and the first argument of `tensor_parallel`): computing and communication grow together and their ratio stays. TP's traffic grows with tokens, ZeRO's does not. Lesson 7 makes use of that.

# %% [markdown] id="order" lang="zh-CN"
# ## 放不下时，先动哪个
#
# 1. **模型状态太大**：提高 ZeRO 的阶段，或加 rank。
# 2. **激活太大**：重计算；微批次减小，累积步数加大。
# 3. **一层的收集和梯度太大**，也就是 N 怎么加都不降的那一块：TP，限在机内；或者让每次收集的单元更小，比如按子模块收集。
# 4. **开了 TP，激活的整份还太大**：SP。
# 5. **单个矩阵就放不下，TP 又不够**：把这个矩阵乘法分块做，一块一块收集（ZeRO-Infinity 叫 tiling），或者再加流水线并行，减少每个 rank 的层数。
#
# 每一步动的都是不同的一行。先看清放不下的是哪一行，再选。

# %% [markdown] id="order" lang="en"
# ## What to try first when it does not fit
#
# 1. **Model states too large:** a higher ZeRO stage, or more ranks.
# 2. **Activations too large:** recomputation; a smaller micro-batch with more accumulation.
# 3. **The gathered layer and its gradient too large**, the part that no N brings down: TP inside the node, or smaller gather units, by submodule say.
# 4. **TP is on and the whole activations are still too large:** SP.
# 5. **A single matrix does not fit, and TP is not enough:** compute that product in tiles and gather them one by one (ZeRO-Infinity calls it tiling), or add pipeline parallelism for fewer layers per rank.
#
# Each step moves a different row. Find out which row does not fit, then choose.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 8 张卡，TP = 8，同事想再开 ZeRO-3，“状态还能再除以 8”。能吗？
#
# <details><summary>想好了再展开</summary>
#
# 不能。TP 用完了 8 张卡，数据并行度是 1，ZeRO 没有冗余可消。TP 之后剩下的冗余只有归一化这类很小的整份权重，它们属于 TP 组，不归 ZeRO 管。想再降，就要更多的卡，或者 TP 4 × DP 2 这样的排法，可那样总数还是除以 8。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# Eight cards at TP = 8. A colleague wants to add ZeRO-3, “to divide the states by another 8”. Does it?
#
# <details><summary>Think first, then unfold</summary>
#
# No. TP has used all eight cards, the data-parallel degree is 1, and ZeRO finds no redundancy to remove. What redundancy remains is in small whole weights such as the norms, and it lies within the TP group, which is not ZeRO's. To get lower takes more cards. TP 4 × DP 2 is possible, but it divides by 8 as before.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有算 logits。词表并行时每个 rank 只有一部分词表，但损失仍要在组内归约（第 4 课）。
# - 没有细讲流水线、上下文并行和专家并行。`Mesh` 里有 `pp`、`cp`、`ep`，可以自己试。
# - 反向峰值那四行用的是 FSDP2 的规则（PyTorch 2.13），一层一个单元；DeepSpeed 按模块收集，数目不同（第 3 课）。
# - 通信时间是标称峰值下的下界，延迟没算。序列并行反向要多收集一次，Megatron 把它藏在权重梯度的计算后面，这里按字节照算。
#
# ## 资料
#
# - Shoeybi 等，*Megatron-LM*，arXiv:1909.08053，第 3 节：列切与行切，每层四次 all-reduce。
# - Korthikanti 等，*Reducing Activation Recomputation in Large Transformer Models*，arXiv:2205.05198，第 4 节、表 2：10 + 24/t 与序列并行。
# - Rajbhandari 等，*ZeRO*，arXiv:1910.02054，第 8 节：与模型并行的通信量；*ZeRO-Infinity*，arXiv:2104.07857：tiling。
# - EleutherAI/cookbook issue #36、PR #37（脚本版本 827ee3b）；cli99/llm-analysis issue #19。
#
# 资料核对日期：2026-09-10。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - Anything about logits. With the vocabulary cut, a rank has only part of them, but the loss is still reduced over the group (lesson 4).
# - Much about pipeline, context and expert parallelism. `Mesh` has `pp`, `cp` and `ep`; try them.
# - That the four rows of backward hold everywhere. They follow FSDP2 (PyTorch 2.13) with one unit a layer; DeepSpeed gathers by module, and its numbers differ (lesson 3).
# - How long communication really takes. Times are lower bounds at printed peaks without latency. Sequence parallelism gathers once more in backward; Megatron hides that behind the weight gradients, and here it is simply counted.
#
# ## Sources
#
# - Shoeybi et al., *Megatron-LM*, arXiv:1909.08053, section 3: cutting by columns and by rows, four all-reduces a layer.
# - Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, arXiv:2205.05198, section 4 and Table 2: 10 + 24/t, sequence parallelism.
# - Rajbhandari et al., *ZeRO*, arXiv:1910.02054, section 8: traffic beside model parallelism; *ZeRO-Infinity*, arXiv:2104.07857: tiling.
# - EleutherAI/cookbook issue #36 and PR #37 (script at 827ee3b); cli99/llm-analysis issue #19.
#
# Sources checked on 2026-09-10.
