# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: gather
#   number: 3
#   checked: 2026-09-10
#   title:
#     en: "The layer is sharded. Where do its weights come from?"
#     zh-CN: "参数都分片了，算这一层时权重从哪里来"
#   summary:
#     en: "Gather, compute, release: what stage 3 has in memory at each instant of a step, and why eight ranks do not bring an eighth of the peak."
#     zh-CN: "收集、计算、释放：阶段 3 的一步里，每个时刻显存里有什么；为什么 8 个 rank 换不来八分之一的峰值。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 8 张 {{ "80 GB" }} 的 A100，7B 模型，数据并行 2、序列并行 4，打开激活重计算。ZeRO-2 每张卡用 43.8 G，换成 ZeRO-3 反而用 52.8 G（DeepSpeed#5305，原帖只写了 G）。
#
# 按公式，这里的状态应当少很多。Ulysses 序列并行里，DeepSpeed 把状态分给数据并行乘序列并行的整组，也就是 8 个 rank（PR#4198 起）：阶段 2 是 {{ ledger(7e9, 8, 2) | GB 2 }}，阶段 3 是 {{ ledger(7e9, 8, 3) | GB 2 }}，该少 {{ ledger(7e9, 8, 2).model_states_bytes_per_rank - ledger(7e9, 8, 3).model_states_bytes_per_rank | GB 2 }}。实际却多了 9 G。
#
# 公式里的 16P/N 说的是平时存多少。可是 1/N 份参数算不了一层，算之前总得凑成整份。这一课就看凑的那一刻。

# %% [markdown] id="question" lang="en"
# Eight A100 of {{ "80 GB" }}, a 7B model, data parallelism 2, sequence parallelism 4, recomputation on. With ZeRO-2 each card uses 43.8 G, with ZeRO-3 it uses 52.8 G (DeepSpeed#5305; the post says just G).
#
# By the formulas the state should have become much smaller. With Ulysses sequence parallelism DeepSpeed shards the state over data times sequence ranks, here all 8 (since PR#4198): {{ ledger(7e9, 8, 2) | GB 2 }} at stage 2 and {{ ledger(7e9, 8, 3) | GB 2 }} at stage 3, which is {{ ledger(7e9, 8, 2).model_states_bytes_per_rank - ledger(7e9, 8, 3).model_states_bytes_per_rank | GB 2 }} less. The cards show 9 G more.
#
# 16P/N says what a rank stores while it waits. But nobody computes a layer with 1/N of its weights; first the whole layer has to be put together. This lesson looks at that moment.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="life" lang="zh-CN"
# ## 一层权重的一生
#
# 阶段 3 里，每个 rank 平时只存每层的一片。一步之中，同一层要经历两遍：
#
# 1. 前向快轮到它时，各 rank 用 `all_gather` 互相取齐，**收集**成整份；
# 2. 算完，**释放**，只留自己那片；
# 3. 反向再轮到它，**再收集**一次；
# 4. 算出这一层的整份梯度，`reduce_scatter` 求和并切开，每个 rank 留一片，整份的梯度和权重都释放。
#
# 一起收集的那一组张量叫一个**单元**。FSDP 的习惯是一层一个单元，剩下的词嵌入、输出头和最后的归一化合成**根单元**。单元在显存里总是整份的，和 N 无关。

# %% [markdown] id="life" lang="en"
# ## The life of a layer's weights
#
# At stage 3 each rank stores one piece of every layer. Within a step the same layer goes round twice:
#
# 1. shortly before its forward, the ranks fetch each other's pieces with an `all_gather`: the layer is **gathered**;
# 2. when it has computed, it is **released** and each rank keeps its own piece;
# 3. for backward it is gathered **again**;
# 4. its whole gradient is computed, summed and cut up by a `reduce_scatter`; each rank keeps a piece, and whole gradient and whole weights go.
#
# The tensors that are gathered together form a **unit**. The habit with FSDP is one unit for each layer, and a **root** unit for embedding, head and final norm. In memory a unit is always whole, whatever N is.

# %% id="predict-layer" tags=["predict"]
predict("gather-layer-7b")

# %% [markdown] id="units" lang="zh-CN"
# 一个 7B 模型有 32 层，一层的整份权重约占模型的 1/33，其余在根单元里。下面先验证根单元加各层正好是全部参数，再列出算某一层时的整份权重：根单元、这一层，以及正在路上的下一层。
#
# 换几个模型试试：`llama-3.1-8b` 词表大，根单元反而比一层大好几倍；`mixtral-8x7b` 一层里有 8 个专家，要一起收集。

# %% [markdown] id="units" lang="en"
# A 7B model has 32 layers, so a whole layer is about 1/33 of the model; the rest sits in the root. The cell checks that root and layers add up to all parameters, then lists the whole weights while a layer computes: root, this layer, and the next one on its way.
#
# Try other models. `llama-3.1-8b` has a large vocabulary, so its root is several times a layer; one layer of `mixtral-8x7b` holds eight experts, all gathered together.

# %% id="live-units" tags=["live"]
model = preset("llama-2-7b").model
root, layer = gather_units(model)
assert root + model.num_layers * layer == model.num_params
for row in gather_rows(root, layer, prefetch_depth=1):
    print(format_bytes(row.num_bytes, "GB", 3), row.what)

# %% [markdown] id="watch" lang="zh-CN"
# ## 看一步
#
# 下面是一次真的训练步：一个很小的模型，在 4 个虚拟 rank 上真的切开、收集、算梯度，每一次分配和释放都有记录。为了看得清，每个数代表 4096 个数，所以刻度是 MB。虚线是静态公式给的量。
#
# 先找三处。收集来的完整权重像一条带子，从前向铺到反向：放掉一层，又收来一层，场上总有两层，一层在算，一层是预取来的。等待归约的完整梯度只在反向出现。峰值在反向中途，那时这两样和剩下的激活碰到一起。
#
# 然后动两处。预取拖到 0，带子薄了一半。N 从 4 拖到 8，虚线降到一半，带子呢？

# %% [markdown] id="watch" lang="en"
# ## Watch a step
#
# This is a real training step: a very small model that four virtual ranks really cut up, gather and differentiate, with every allocation and release on record. To be readable, each number stands for 4096, so the scale is megabytes. The dashed line is what the static formula gives.
#
# Find three things. The gathered weights lie like a band across forward and backward: one layer goes, another comes, and two are there at a time, the one that computes and the one prefetched. Gradients before reduction appear only in backward. The peak is in the middle of backward, where both meet the activations that remain.
#
# Then move two controls. Set prefetch to 0 and the band is half as thick. Drag N from 4 to 8: the dashed line drops by half, and the band?

# %% id="timeline" tags=["timeline"]
timeline(stage=3, dp_size=4, prefetch_depth=1,
         gradient_accumulation_steps=1, num_steps=1)

# %% [markdown] id="scaling-toy" lang="zh-CN"
# 把刚才看到的写成表。每行是 N、静态状态、实际峰值、峰值所在的时刻。静态一列每次正好减半，峰值一列越减越慢：带子的厚度没有变，整份的一层就是整份的一层。把 `stage=3` 改成 `stage=2` 再看：静态那一列为什么也减不动了？

# %% [markdown] id="scaling-toy" lang="en"
# The same as a table: N, static state, true peak, and the instant of the peak. The static column halves exactly each time, the peak shrinks less and less: the band keeps its thickness, since a whole layer is a whole layer. Change `stage=3` to `stage=2`: why does the static column now get stuck as well?

# %% id="live-simulated" tags=["live"]
from zeroledger.simulate import simulate

for N in (1, 2, 4, 8):
    run = simulate(dp_size=N, stage=3, num_steps=1,
                   gradient_accumulation_steps=1)
    static, top = sum(run.persistent_bytes(0).values()), run.peak()
    print(f"{N} {static / 1e6:6.1f} {top.num_bytes / 1e6:6.1f} MB  {top.instant}")

# %% [markdown] id="guess-peak" lang="zh-CN"
# ## 回到 7B
#
# 真实的 FSDP2 在反向时，除了分片的状态，还同时有：根单元和当前层的整份权重、预取中的另一层、上一层等着归约的整份梯度。数一数，再加起来。

# %% [markdown] id="guess-peak" lang="en"
# ## Back to 7B
#
# In backward, FSDP2 holds, besides the sharded state: root and current layer whole, another layer being prefetched, and the whole gradient of the layer before, waiting to be reduced. Count, then add up.

# %% id="predict-peak" tags=["predict"]
predict("gather-peak-64")

# %% [markdown] id="eighth" lang="zh-CN"
# ## 为什么 N 乘 8，峰值不除以 8
#
# 状态随 N 反比下降，来了又走的这部分不动。Llama 2 7B 的这部分是 2 ×（根 + 层）+ 2 × 层 + 4 × 层字节，共 {{ fsdp_backward_instant(262148096, 202383360).num_bytes | GB 2 }}。
#
# 下面每行是 N、状态、临时部分、合计。8 个 rank 时状态占大头，再加卡很划算；64 个 rank 时临时部分已经超过状态；512 个 rank 时，状态几乎没有了，合计还有两个多 GB。

# %% [markdown] id="eighth" lang="en"
# ## Why eight times the ranks is not an eighth of the peak
#
# State goes down as 1/N; what comes and goes does not move. For Llama 2 7B that is 2 × (root + layer) + 2 × layer + 4 × layer bytes, {{ fsdp_backward_instant(262148096, 202383360).num_bytes | GB 2 }}.
#
# Each line is N, state, transients and their sum. With 8 ranks the state dominates and more cards pay well. With 64 the transients are already larger than the state. With 512 the state has all but gone, and more than two GB remain.

# %% id="live-scaling" tags=["live"]
root, layer = gather_units(preset("llama-2-7b").model)
extra = fsdp_backward_instant(root, layer).num_bytes
for N in (8, 64, 512):
    shards = ledger(model="llama-2-7b", dp_size=N, stage=3)
    state = shards.model_states_bytes_per_rank
    print(f"{N:3} {state / GB:6.2f} + {extra / GB:.2f} = {(state + extra) / GB:5.2f} GB")

# %% [markdown] id="instants" lang="zh-CN"
# 还没算激活。下面按张量走完整个一步，取峰值那一刻，分账户列出（微批次 1，序列长度 4096，整层重计算；Adam 的两个矩另算）。
#
# 注意峰值的位置也变了：8 个 rank 时在反向快结束的第 1 层，那时梯度分片已经攒了一大堆；64 个 rank 时梯度分片很小，峰值跑到反向刚开始的第 30 层，那时保存的激活最多。加卡不只是降低峰值，还会换一个时刻当峰值，优化的对象也就换了。

# %% [markdown] id="instants" lang="en"
# Activations are still missing. The next cell walks a whole step tensor by tensor and shows the peak instant by account (micro-batch 1, sequence length 4096, full recomputation; Adam's two moments are not in it).
#
# Notice where the peak is. With 8 ranks it falls in layer 1, near the end of backward, when the gradient shards have piled up. With 64 ranks those shards are small and the peak moves to layer 30, where backward has just begun and most activations are still held. More cards do lower the peak; they also make another instant the peak, and so change what is worth optimising.

# %% id="live-instants" tags=["live"]
model = preset("llama-2-7b").model
settings = ActivationSettings(1, seq_length=4096, recompute="full")
stack = Stack(model, settings, loss_settings(model, settings))
for N in (8, 64):
    top = peak(fsdp_instants(stack, FsdpSettings(N)))
    print(N, top.name, format_bytes(top.num_bytes, "GB", 2))
    for account, size in top.by_account().items():
        if size > 10**7:
            print(f"{size / GB:10.2f} GB  {account}")

# %% [markdown] id="largest" lang="zh-CN"
# ## 最大的单元说了算
#
# 临时部分由最大的单元决定。那么单元划得不对会怎样？

# %% [markdown] id="largest" lang="en"
# ## The largest unit decides
#
# What comes and goes is set by the largest unit. So what if the units are drawn wrongly?

# %% id="predict-no-wrap" tags=["predict"]
predict("gather-no-wrap")

# %% [markdown] id="largest-why" lang="zh-CN"
# 忘了包装，阶段 3 就成了“平时省、算时不省”：第一层一开始，整个模型就到齐了。反过来，如果模型里有一层特别大，比如几十万行的词嵌入，或者一层几十个专家，它自己就是峰值，加多少 rank 都没用。能做的是把这一层本身切开：张量并行、把大矩阵分块算，或者换一种层。第 6 课会回到这里。
#
# 每换一个模型，先查一个数：**最大的单元有多大**。

# %% [markdown] id="largest-why" lang="en"
# Without wrapping, stage 3 saves only while nothing computes: as the first layer starts, the whole model is there. Conversely, if one layer is exceptionally large, an embedding of some hundred thousand rows or a layer with dozens of experts, it is the peak all by itself and no number of ranks helps. Then the layer has to be cut: tensor parallelism, computing the large matrix in blocks, or another kind of layer. Lesson 6 comes back to this.
#
# For each new model, look up one number first: **how large is the largest unit?**

# %% [markdown] id="prefetch" lang="zh-CN"
# ## 预取：用显存换时间
#
# 等权重到齐再开算，计算就要停下来等通信。预取是趁这一层还在算，先把下一层收集起来。代价是多一层整份权重在场。
#
# 深度从 0 到 3，先猜：时间在哪一步变短，之后呢？再运行。每行是深度、峰值、一步的时间（模拟器的成本模型，微秒）。

# %% [markdown] id="prefetch" lang="en"
# ## Prefetch: memory for time
#
# If a layer waits until its weights have arrived, computation stops for communication. Prefetch gathers the next layer while this one computes, at the price of one more whole layer in memory.
#
# For depths 0 to 3, guess first: where does the step get shorter, and what happens after that? Then run. Each line is depth, peak, and time of a step in microseconds by the simulator's cost model.

# %% id="live-prefetch" tags=["live"]
from zeroledger.simulate import simulate

for depth in range(4):
    run = simulate(dp_size=4, stage=3, num_steps=1, prefetch_depth=depth,
                   gradient_accumulation_steps=1)
    print(f"{depth} {run.peak().num_bytes / 1e6:.1f} MB {1e6 * run.total_s():.0f} µs")

# %% [markdown] id="prefetch-why" lang="zh-CN"
# 预取一层，通信就藏到了计算后面；预取两层，时间一点没变，显存照涨；三层，时间还略微变长，因为链路只有一条，提前到的收集会挤占梯度的归约。所以“更积极”的选项不必都打开：看时间线，够藏住通信就停。

# %% [markdown] id="prefetch-why" lang="en"
# One layer ahead hides the communication behind computation. Two layers ahead change nothing in time and cost more memory. Three even make the step slightly longer, because there is one link and early gathers get in the way of the gradients' reductions. Hence no reason to turn every “more aggressive” option on: look at the timeline and stop once communication is hidden.

# %% [markdown] id="deepspeed" lang="zh-CN"
# ## DeepSpeed 的几个旋钮，单位都是元素
#
# DeepSpeed 不按层数预取，按元素个数：
#
# - `stage3_prefetch_bucket_size`，默认 `5e7`：提前收集多少；
# - `stage3_max_live_parameters`，驻留参数上限，默认 `1e9`：整份在场的参数超过这个数，就不再预取；
# - `stage3_max_reuse_distance`，默认 `1e9`：用完之后，如果 10<sup>9</sup> 个元素以内还要再用，就先不放。
#
# 下面是 Llama 2 7B 前向、反向里同时整份在场的元素最多有多少。默认值允许 10<sup>9</sup> 个以上，按 BF16 就是两个多 GB，与 N 无关；第二行关掉预取；第三行把重用距离也归零，只剩最大的一个张量。模型不到 10<sup>9</sup> 个参数时，默认值会让整个模型一直在场，阶段 3 等于没开。

# %% [markdown] id="deepspeed" lang="en"
# ## DeepSpeed's knobs, all in elements
#
# DeepSpeed does not prefetch by layers but by elements:
#
# - `stage3_prefetch_bucket_size`, default `5e7`: how much to gather ahead;
# - `stage3_max_live_parameters`, default `1e9`: with more than this whole, stop prefetching;
# - `stage3_max_reuse_distance`, default `1e9`: a weight that will be used again within this many elements is not released.
#
# The cell shows, for Llama 2 7B, the most elements that are whole at once in forward and in backward. The defaults allow over 10<sup>9</sup>, in BF16 more than two GB, for any N. The second line switches off prefetch; the third also sets the reuse distance to zero, and only the largest tensor is left. A model under 10<sup>9</sup> parameters stays whole all the time with the defaults, as if stage 3 were off.

# %% id="live-limits" tags=["live"]
model = preset("llama-2-7b").model
for limits in (FetchLimits(), FetchLimits(prefetch_numel=0),
               FetchLimits(prefetch_numel=0, max_reuse_numel=0)):
    forward, backward = live_parameter_numel(model, limits)
    print(f"{forward:13,} {backward:13,} {2 * forward / GB:5.2f} GB")

# %% [markdown] id="estimator" lang="zh-CN"
# ## 估计 0.49，实际一万多
#
# DeepSpeed#4527：6.8B 模型，4 张卡，ZeRO-3，优化器和参数都卸载到 CPU。官方估计器说每张卡 {{ "0.49 GB" }}，初始化完却是 {{ "14678 MiB" }}。
#
# 先看估计器数了什么：最大的一个模块有 131,072,000 个元素，乘 4 字节，{{ 4 * 131072000 | GiB 2 }}（它把 GiB 印成了 GB）。只有这一项。再看实际像什么：整份 16 位权重 {{ 2 * 6805e6 | MiB 0 }}，加一个通信桶 {{ 2 * 5e8 | MiB 0 }}，一共 {{ 2 * 6805e6 + 2 * 5e8 | MiB 0 }}，离读数只差 {{ 14678 * 2 * 524288 - 2 * 6805e6 - 2 * 5e8 | MiB 0 }}。所以更可能的解释是：初始化时权重根本没有分片，整份放在卡上。同一个帖子里，第二次前向之前只剩 {{ "1838 MiB" }}，说明那时权重已经走了。另一份报告 DeepSpeed#4093 也是这个样子：GPT-J-6B，2 张卡和 4 张卡都用约 13 G，与 N 无关，正好是整份权重 2P 的量级。
#
# 读数与 N 无关，就先怀疑有东西没分片。

# %% [markdown] id="estimator" lang="en"
# ## Estimate 0.49, reality fourteen thousand
#
# DeepSpeed#4527: a model of 6.8B on four cards, ZeRO-3, optimizer and parameters offloaded to the CPU. The official estimator says {{ "0.49 GB" }} for each card; after initialisation it is {{ "14678 MiB" }}.
#
# What did the estimator count? The largest module has 131,072,000 elements, at 4 bytes {{ 4 * 131072000 | GiB 2 }} (it prints GiB and calls them GB). That is all. And what does reality look like? Whole 16-bit weights {{ 2 * 6805e6 | MiB 0 }}, one bucket {{ 2 * 5e8 | MiB 0 }}, together {{ 2 * 6805e6 + 2 * 5e8 | MiB 0 }}: within {{ 14678 * 2 * 524288 - 2 * 6805e6 - 2 * 5e8 | MiB 0 }} of the reading. So the likelier story is that at initialisation nothing was sharded and the whole weights were on the card. In the same thread only {{ "1838 MiB" }} are left before the second forward; by then they had gone. Another report, DeepSpeed#4093, looks alike: GPT-J-6B uses about 13 G on two cards and on four, independent of N, and of the size of the whole weights, 2P.
#
# When a reading does not depend on N, suspect first that something is not sharded.

# %% [markdown] id="back" lang="zh-CN"
# ## 那 9 G 呢
#
# 回到开头的 DeepSpeed#5305。能算的：默认旋钮下，阶段 3 反向的临时部分（收集的权重、桶、归约的缓冲）约 {{ deepspeed_instants(preset("llama-2-7b").model, 8, 3)[1].num_bytes | GB 1 }}，阶段 2 只有一个桶，{{ deepspeed_instants(preset("llama-2-7b").model, 8, 2)[1].num_bytes | GB 1 }}。这能解释两个多 GB，解释不了状态该少的那十几个。帖子没有给出 DeepSpeed 配置，也没说 52.8 是已分配还是已保留。反复收集、释放大块，会让分配器留下空隙，已保留就比已分配高出一截；权重如果没有分片，也会多出这么多。我们不知道是哪一种，能说的只有该按什么次序去查：已分配还是已保留，权重真的分片了吗，旋钮是多少，最大的单元有多大。

# %% [markdown] id="back" lang="en"
# ## And the 9 G?
#
# Back to DeepSpeed#5305. What can be computed: with default knobs the transients of stage 3 in backward (gathered weights, bucket, reduction buffers) come to about {{ deepspeed_instants(preset("llama-2-7b").model, 8, 3)[1].num_bytes | GB 1 }}; stage 2 has one bucket, {{ deepspeed_instants(preset("llama-2-7b").model, 8, 2)[1].num_bytes | GB 1 }}. That explains two and a bit, and not the dozen by which the state should have shrunk. The thread shows no DeepSpeed configuration and does not say whether 52.8 is allocated or reserved. Gathering and releasing large blocks over and over leaves gaps in the allocator, and reserved ends up well above allocated; weights that were never sharded would also add this much. We cannot tell which. What we can offer is the order in which to look: allocated or reserved, are the weights really sharded, how are the knobs set, how large is the largest unit.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 8 卡 ZeRO-3 的状态下界除以 8，峰值也一定恰好除以 8 吗？这次请说出每一项各是多少。
#
# <details><summary>想好了再展开</summary>
#
# 不会。以 Llama 2 7B 为例，状态从 {{ ledger(model="llama-2-7b", stage=3) | GB 1 }} 降到 {{ ledger(model="llama-2-7b", dp_size=8, stage=3) | GB 1 }}，这一项确实除以 8。反向时整份在场的根单元、当前层、预取的一层和等待归约的梯度一共 {{ fsdp_backward_instant(262148096, 202383360).num_bytes | GB 2 }}，一个字节也没少。激活由每个 rank 自己的批次决定，也不除。再加上与 N 无关的通信桶和分配器的空隙。所以要记录实际峰值，还要查出最大的单元。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# ZeRO-3 on 8 ranks divides the floor of the state by 8. Does the peak divide by exactly 8 too? This time, name the size of each item.
#
# <details><summary>Think first, then unfold</summary>
#
# No. For Llama 2 7B the state goes from {{ ledger(model="llama-2-7b", stage=3) | GB 1 }} to {{ ledger(model="llama-2-7b", dp_size=8, stage=3) | GB 1 }}; that item is divided by 8. The root, the current layer, the prefetched one and the gradients that wait, all whole in backward, come to {{ fsdp_backward_instant(262148096, 202383360).num_bytes | GB 2 }}, and not a byte of it is saved. Activations follow each rank's own batch. Buckets and the allocator's gaps do not know N at all. So record the real peak, and find out how large the largest unit is.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说收集要花多少时间。一步里参数要走两遍网络，第 7 课算通信量。
# - 没有说所有框架都这样。这里的 FSDP2 指默认设置：根单元在前向和反向之间不释放，每层释放；FSDP1、DeepSpeed、Megatron 各有不同。
# - 没有说模拟器的微秒是真的。它用一个成本模型，只比较次序和相对大小。
# - 没有说已保留的显存是多少。分配器的空隙放在第 8 课。
#
# ## 资料
#
# - Rajbhandari 等，*ZeRO*，arXiv:1910.02054，第 5.3 节：参数分片与按需收集。
# - Zhao 等，*PyTorch FSDP*，arXiv:2304.11277：单元、预取与限速。
# - PyTorch 2.13 `fully_shard` 的行为；本站的每一项都与 FSDPMemTracker 的记录逐字节对过。
# - DeepSpeed 配置文档，ZeRO 一节：`stage3_*` 各项的单位和默认值。
# - deepspeedai/DeepSpeed#5305（2024-03）、#4527（2023-10）、#4093（2023-08）；PR#4198（2023-08）：序列并行时的分片组。
#
# 资料核对日期：2026-09-10。对报告的解释是我们的推断；框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - How long a gather takes. The parameters cross the network twice in a step; lesson 7 counts that.
# - That every framework works like this. FSDP2 here means its defaults: the root stays gathered between forward and backward, layers are released. FSDP1, DeepSpeed and Megatron differ.
# - That the simulator's microseconds are real. They come from a cost model and serve to compare.
# - How much memory is reserved. The allocator's gaps are in lesson 8.
#
# ## Sources
#
# - Rajbhandari et al., *ZeRO*, arXiv:1910.02054, section 5.3: sharded parameters, gathered on demand.
# - Zhao et al., *PyTorch FSDP*, arXiv:2304.11277: units, prefetch and the rate limiter.
# - Behaviour of `fully_shard` in PyTorch 2.13; each item here was compared byte by byte with FSDPMemTracker's record.
# - DeepSpeed's configuration documentation, ZeRO section: units and defaults of the `stage3_*` settings.
# - deepspeedai/DeepSpeed#5305 (March 2024), #4527 (October 2023), #4093 (August 2023); PR#4198 (August 2023): the group that shards under sequence parallelism.
#
# Sources checked on 2026-09-10. How the reports are explained is our inference; how a framework behaves depends on the version you run.
