# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: communication
#   number: 7
#   checked: 2026-09-10
#   title:
#     en: "Thirty milliseconds on the wire, four hundred of waiting"
#     zh-CN: "线上只要 30 毫秒，为什么多等了 400 毫秒"
#   summary:
#     en: "What each ZeRO stage sends, what DeepSpeed sends by default, when stage 3 costs half as much again, and from which micro-batch on overlap can hide it."
#     zh-CN: "ZeRO 各阶段要发多少，DeepSpeed 默认实际发多少，阶段 3 什么时候贵一半，微批次多大通信才藏得住。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# DeepSpeed 的 issue #1174：一个约 5B 参数的 BERT，8 张 A100，有 NVLink。用 ZeRO-2，前向约 60 毫秒；换成 ZeRO-3，前向约 480 毫秒。提问的人说，NVLink 标称 {{ "600 GB" }} 每秒，收集参数不该这么慢。
#
# 他说得对吗？先估一下：BF16 权重约 {{ 2 * 5118538240 | GB 1 }}，每个 rank 要发出其中的 7/8；{{ "600 GB" }} 是两个方向相加，单向 {{ interconnect("nvlink-a100").bytes_per_s | GB 0 }} 每秒。除一除，{{ 1000 * ring_wire_bytes("all_gather", 2 * 5118538240, 8) / interconnect("nvlink-a100").bytes_per_s | num 0 }} 毫秒。多出来的却有 420 毫秒。
#
# 这一课教你做这道除法，也教你看出它**解释不了**的部分。

# %% [markdown] id="question" lang="en"
# DeepSpeed's issue #1174: a BERT of about 5B parameters on eight A100s with NVLink. Forward takes some 60 milliseconds under ZeRO-2 and 480 under ZeRO-3. NVLink is rated at {{ "600 GB" }} a second, says the reporter; gathering parameters should not be that slow.
#
# Is that right? A first estimate: the BF16 weights are about {{ 2 * 5118538240 | GB 1 }}, of which each rank sends 7/8. The {{ "600 GB" }} add up both directions; one direction has {{ interconnect("nvlink-a100").bytes_per_s | GB 0 }} a second. Divide, and it is {{ 1000 * ring_wire_bytes("all_gather", 2 * 5118538240, 8) / interconnect("nvlink-a100").bytes_per_s | num 0 }} milliseconds. The clock shows 420 more.
#
# This lesson teaches the division, and how to recognise what it **cannot** explain.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="rounds" lang="zh-CN"
# ## 数轮次
#
# 把“每个 rank 经手一遍全部参数那么多的元素”叫一轮，论文里写作 Ψ。两种集合通信各是一轮：
#
# - **all-gather**：开始时每人一份分片，结束时人人都有整份。
# - **reduce-scatter**：开始时人人一份完整的梯度，结束时每人只拿到自己那份分片的和。
#
# all-reduce 等于先 reduce-scatter 再 all-gather，是两轮。于是：
#
# | 阶段 | 一步里发生什么 | 轮数 |
# | --- | --- | --- |
# | 0 | 梯度 all-reduce | 2 |
# | 1、2 | 梯度 reduce-scatter；更新后参数 all-gather | 2 |
# | 3 | 前向收集参数；反向再收集一次；梯度 reduce-scatter | 3 |
#
# “阶段 3 的通信是 1.5 倍”就是 3 比 2。阶段 1、2 和普通数据并行一样多：省显存没有多花通信。

# %% [markdown] id="rounds" lang="en"
# ## Counting rounds
#
# Call it one round when as many elements as there are parameters pass through every rank; the paper writes Ψ. Two collectives are a round each:
#
# - **all-gather**: everybody starts with a shard and ends with the whole.
# - **reduce-scatter**: everybody starts with a whole gradient and ends with the sum of one shard.
#
# An all-reduce is a reduce-scatter followed by an all-gather: two rounds. Hence:
#
# | stage | what happens in a step | rounds |
# | --- | --- | --- |
# | 0 | all-reduce of gradients | 2 |
# | 1, 2 | reduce-scatter of gradients; all-gather of updated parameters | 2 |
# | 3 | gather parameters for forward, again for backward; reduce-scatter of gradients | 3 |
#
# “Stage 3 communicates 1.5 times as much” is 3 over 2. Stages 1 and 2 send what plain data parallelism sends: they save memory at no extra traffic.

# %% id="predict-stage3" tags=["predict"]
predict("comm-stage3-7b")

# %% id="live-by-hand" tags=["live"]
P, N = 7_000_000_000, 8
one_round = 2 * P * (N - 1) // N
assert 2 * one_round == zero_paper(P, N, stage=2).wire_bytes
assert 3 * one_round == zero_paper(P, N, stage=3).wire_bytes
for row in zero_paper(P, N, stage=3).rows:
    print(f"{row.op:14}  {row.phase:8}  {row.wire_bytes / GB:.2f} GB")

# %% [markdown] id="ring" lang="zh-CN"
# ## 环形系数：加卡不会让它变少
#
# 环形算法里，每个 rank 把数据传给下一个，转 N − 1 次，每次 1/N。所以一轮是 (N − 1)/N，不是 1/N。自己的分片不用收，别人的都要经手。
#
# N 从 2 到 512，这个系数从 0.5 涨到接近 1，然后就不动了。**卡再多，每张卡要发的字节也不会减少**；显存除以 N，通信不除。N 一大，倒是延迟开始显形：步数是 N − 1。

# %% [markdown] id="ring" lang="en"
# ## The ring factor: more cards do not make it less
#
# In a ring each rank passes data to the next, N − 1 times, 1/N at a time. So a round is (N − 1)/N and not 1/N: your own shard you have, everybody else's goes through you.
#
# From N = 2 to 512 the factor goes from 0.5 to almost 1 and stays there. **More cards never mean fewer bytes per card**: memory is divided by N, traffic is not. What does grow with N is latency, since the ring takes N − 1 steps.

# %% id="live-ring" tags=["live"]
for n in (1, 2, 8, 64, 512):
    one_round = ring_factor("all_gather", n)
    print(n, one_round, ring_factor("all_reduce", n))

# %% [markdown] id="defaults" lang="zh-CN"
# ## DeepSpeed 默认真的这样发吗
#
# 论文说阶段 2 是两轮。你的 DeepSpeed 呢？

# %% [markdown] id="defaults" lang="en"
# ## Is that what DeepSpeed sends by default?
#
# Two rounds for stage 2, says the paper. And your DeepSpeed?

# %% id="predict-deepspeed" tags=["predict"]
predict("comm-deepspeed-stage2")

# %% id="live-defaults" tags=["live"]
model = PRESETS["llama-2-7b"].model
for flag in (True, False):
    step = deepspeed(model, 8, 2, multi_rank_bucket_allreduce=flag)
    for row in step.rows:
        print(f"{row.op:10}{row.calls:4}{row.wire_bytes / GB:7.2f} GB")
    print(f"{step.wire_bytes / GB:21.2f} GB")

# %% [markdown] id="defaults-read" lang="zh-CN"
# 默认的阶段 1、2 用 all-reduce 归约梯度（`use_multi_rank_bucket_allreduce`），一共三轮，和论文的阶段 3 一样多。关掉它，改成逐个 rank 的 reduce，接近两轮，但调用更碎。我们数过真实运行的每一次调用，规则跟这里一致。
#
# 阶段 3 反过来：默认可能比三轮**少**。`stage3_max_live_parameters` 和 `stage3_max_reuse_distance` 都是 10<sup>9</sup> 个元素，模型比这个小，前向收集的权重就一直留着，反向不用再收集。省了一轮，也就没省下参数的显存。下面是一个 355M 的 GPT-2，先用默认，再把四个开关都设成 0。

# %% [markdown] id="defaults-read" lang="en"
# By default stages 1 and 2 reduce gradients with an all-reduce (`use_multi_rank_bucket_allreduce`): three rounds, as many as the paper's stage 3. With the option off there is a reduce to each owner instead, close to two rounds in more and smaller calls. We counted every call of real runs; the rule here agrees with them.
#
# Stage 3 errs on the other side: it may send **less** than three rounds. `stage3_max_live_parameters` and `stage3_max_reuse_distance` are 10<sup>9</sup> elements each. A model below that keeps what forward gathered, and backward gathers nothing. One round saved, and the memory of the parameters not saved. Here is a GPT-2 of 355M, first with defaults, then with all four limits at 0.

# %% id="live-small" tags=["live"]
config = {"model_type": "gpt2", "n_embd": 1024, "n_layer": 24,
          "n_head": 16, "n_positions": 1024, "vocab_size": 50257}
small = model_from_hf_config(config)
for limits in (FetchLimits(), FetchLimits(0, 0, 0, 0)):
    for row in deepspeed(small, 8, stage=3, fetch=limits).rows:
        print(f"{row.op:15}{row.phase:9}{row.calls:4}{row.numel:12,}")
    print()

# %% [markdown] id="small-read" lang="zh-CN"
# 所以“阶段 3 贵一半”要带着条件说：跟 reduce-scatter 版的阶段 2 比，模型大于驻留上限，而且字节才是瓶颈。小模型加默认配置时，DeepSpeed 的阶段 3 发得比阶段 2 还少。（后一组的元素比参数多出一截，那是输入输出共享的词嵌入：前向用两次，就收集了两次。）
#
# FSDP2 又不同：根单元前向之后不释放，反向少收集一点；梯度常以 FP32 归约，那一轮就是两倍字节。试试 `print(fsdp2(PRESETS["llama-2-7b"].model, 8))`，再加 `reduce_dtype="bf16"`。

# %% [markdown] id="small-read" lang="en"
# “Stage 3 costs half as much again” therefore needs its conditions: compared with a reduce-scatter stage 2, for a model above the live limit, where bytes are the bottleneck. For a small model with defaults, DeepSpeed's stage 3 sends less than its stage 2. (The second group gathers more elements than there are parameters. That is the embedding, tied to the head: used twice in a pass, gathered twice.)
#
# FSDP2 differs again: its root unit is not released after forward, which saves part of a gather, and gradients are often reduced in FP32, which doubles that round. Try `print(fsdp2(PRESETS["llama-2-7b"].model, 8))`, then `reduce_dtype="bf16"`.

# %% [markdown] id="accumulation" lang="zh-CN"
# ## 累积：谁的通信跟着翻倍
#
# 显存不够，就把微批次减小、累积步数加大，全局批次不变。计算总量没变，通信呢？

# %% [markdown] id="accumulation" lang="en"
# ## Accumulation: whose traffic it multiplies
#
# Short of memory, you halve the micro-batch and double the accumulation; the global batch stays. The computing stays too. And the traffic?

# %% id="predict-accumulation" tags=["predict"]
predict("comm-accumulation")

# %% id="live-accumulation" tags=["live"]
for steps in (1, 2, 4, 8):
    sent = [zero_paper(7e9, 8, s, gradient_accumulation_steps=steps)
            for s in (1, 2, 3)]
    print(steps, *(f"{each.wire_bytes / GB:6.2f} GB" for each in sent))

# %% [markdown] id="accumulation-read" lang="zh-CN"
# 三列是阶段 1、2、3。阶段 1 手里有整份梯度，攒够了再归约一次，与累积无关。阶段 2 只留梯度的分片，每个微批次都得归约。阶段 3 连权重也没留，收集和归约全都翻倍。
#
# **显存允许的话，用大的微批次，少累积**：计算一样多，通信却少几倍。

# %% [markdown] id="accumulation-read" lang="en"
# The columns are stages 1, 2 and 3. Stage 1 holds the whole gradient and reduces it once, whatever the accumulation. Stage 2 keeps only a shard and must reduce after every micro-batch. Stage 3 has not even kept the weights: gathers and reductions all multiply.
#
# **If memory allows, take a larger micro-batch and accumulate less**: the same computing for a fraction of the traffic.

# %% [markdown] id="balance" lang="zh-CN"
# ## 微批次多大才藏得住
#
# 通信可以和计算同时进行，只要计算够长。两边各是多少？
#
# - 计算：每个参数、每个 token 约 6 次运算，共 6 · P · T。
# - 通信：阶段 3，BF16，每个参数 6 字节，再乘 (N − 1)/N。
#
# 两个 6、两个 P 都约掉，剩下一个很干净的结果：**T = 峰值 ÷ 带宽 × (N − 1)/N**，跟模型多大无关。

# %% [markdown] id="balance" lang="en"
# ## From which micro-batch on it can be hidden
#
# Communication can run beside computing, as long as there is enough computing. Compare the two:
#
# - Computing: about 6 operations for each parameter and token, 6 · P · T in all.
# - Communicating: at stage 3 in BF16, 6 bytes for each parameter, times (N − 1)/N.
#
# Both sixes cancel, and so does P. What remains is neat: **T = peak ÷ bandwidth × (N − 1)/N**, whatever the size of the model.

# %% id="predict-balance" tags=["predict"]
predict("comm-balance")

# %% id="live-balance" tags=["live"]
model = PRESETS["llama-2-7b"].model
tokens = balance_tokens(dp_size=8, link="pcie4-x16", device="a100")
assert abs(tokens - 312e12 / 31.5e9 * 7 / 8) < 1e-6
for link in ("nvlink-a100", "pcie4-x16", "ethernet-100g"):
    parallel = DataParallel(8, stage=3, link=link)
    rough = balance_tokens(8, link, "a100")
    exact = communication_threshold(model, 2048, parallel, "a100")
    print(link, round(rough), round(exact.tokens),
          exact.micro_batch_size)

# %% [markdown] id="balance-read" lang="zh-CN"
# 第一列数字是上面的公式，第二列是逐个矩阵数运算的精确值（注意力也算，所以小一点），最后是序列长 2048 时要几条。NVLink 上一条就够，100 Gb 以太网上要十几条。
#
# 这是按峰值算的。计算只跑到峰值的一半，T 也减半，更容易藏住；网络只跑到标称的一半，T 就加倍。把 `"a100"` 换成 `"h100"`：卡快了三倍，网没变，要藏住反而更难。

# %% [markdown] id="balance-read" lang="en"
# The first number is the formula, the second counts operations matrix by matrix (attention included, so it is a little smaller), the last is how many sequences of 2048 that makes. Over NVLink one is enough; over 100 Gb Ethernet it takes more than ten.
#
# All of it is at peak. If computing reaches half its peak, T halves and hiding gets easier; if the network reaches half its rate, T doubles. Write `"h100"` for `"a100"`: the card is three times as fast, the network is the same, and hiding gets harder.

# %% [markdown] id="overlap" lang="zh-CN"
# ## 重叠：一层一层地演
#
# 总量够了还不行，先后也要对：这一层的权重必须在它开始之前到。`play_step` 按层演一遍：一条线计算，一条线通信，通信排队。预取深度 0 是“上一层算完才去要”，1 是“上一层开始算时就去要”。
#
# 每行依次是微批次大小、预取深度、总时间，括号里是没藏住的秒数。

# %% [markdown] id="overlap" lang="en"
# ## Overlap, played layer by layer
#
# Enough computing in total does not suffice; the order matters too. A layer's weights must arrive before it starts. `play_step` plays the step on two lines, one computing and one communicating, messages in a queue. Prefetch depth 0 asks for a layer when its predecessor is done, depth 1 when its predecessor starts.
#
# Each line has the micro-batch size, the prefetch depth, the total time and, in brackets, the seconds that could not be hidden.

# %% id="live-play" tags=["live"]
model = PRESETS["llama-2-7b"].model
parallel = DataParallel(dp_size=8, stage=3, link="pcie4-x16")
for size in (1, 2, 4, 8):
    costs = layer_costs(
        model, size, 2048, parallel, "a100", efficiency=0.5)
    for depth in (0, 1):
        step = play_step(costs, prefetch_depth=depth)
        print(size, depth, f"{step.total_s:.2f} ({step.exposed_s:.2f}) s")

# %% [markdown] id="overlap-read" lang="zh-CN"
# 三件事值得看：
#
# - 微批次 1：预取也藏不住，通信本来就比计算长。
# - 微批次 2：有预取时，总时间只比微批次 1 长一点，**token 却翻了倍**。这就是“微批次太小”的代价。
# - 预取从 0 到 1 省很多。再往上呢？把 `(0, 1)` 改成 `(1, 2, 8)`：时间不再变，显存却要多放几层（第 3 课）。更积极不等于更快。

# %% [markdown] id="overlap-read" lang="en"
# Three things to notice:
#
# - Micro-batch 1: prefetch cannot hide it, because communicating takes longer than computing to begin with.
# - Micro-batch 2: with prefetch the step is hardly longer than before and holds **twice the tokens**. That is what too small a micro-batch costs.
# - From prefetch 0 to 1 much is gained. And beyond? Write `(1, 2, 8)` for `(0, 1)`: the time stays, while memory has to hold more layers (lesson 3). More eager is not faster.

# %% [markdown] id="ratio" lang="zh-CN"
# ## 阶段 3 到底慢不慢
#
# 同一个模型、同样的计算，阶段 1 和阶段 3 各演一遍。每行是一种网络和阶段，四列是微批次 1、2、4、8。

# %% [markdown] id="ratio" lang="en"
# ## So, is stage 3 slower?
#
# The same model and the same computing, played at stage 1 and at stage 3. A line for each link and stage, columns for micro-batches 1, 2, 4 and 8.

# %% id="live-ratio" tags=["live"]
model = PRESETS["llama-2-7b"].model
for link in ("ethernet-25g", "pcie4-x16"):
    for stage in (1, 3):
        parallel = DataParallel(8, stage, link)
        tail = step_gather_s(model, parallel)
        costs = [layer_costs(model, size, 2048, parallel, "a100",
                             efficiency=0.5) for size in (1, 2, 4, 8)]
        steps = [play_step(each, step_gather_s=tail) for each in costs]
        print(link, stage, *(f"{step.total_s:.2f} s" for step in steps))

# %% [markdown] id="ratio-read" lang="zh-CN"
# 慢网络、小微批次时，时间几乎全是通信，阶段 3 接近 1.5 倍。网络跟得上的时候，两者差不多；PCIe 上从微批次 2 起，阶段 3 甚至更快：它的收集散在每一层，能藏在计算后面，而阶段 1 更新之后的那次收集后面没有计算，只能干等。（实现可以把它推到下一步的前向里去藏，这里没有。）haotian-liu/LLaVA 的 issue #821 问，为什么 ZeRO-2 反而比 ZeRO-3 慢；配置没有给全，这是可能的原因之一。
#
# 所以 1.5 倍是**字节**的比，时间的比可以是 1.5，可以是 1，也可以小于 1。

# %% [markdown] id="ratio-read" lang="en"
# On a slow network with a small micro-batch nearly all the time is communication, and stage 3 comes close to 1.5. Where the network keeps up they are about equal, and over PCIe stage 3 is even faster from micro-batch 2 on: its gathers are spread over the layers and hide behind them, while stage 1 gathers once after the update, with nothing to hide behind. (An implementation may move that gather into the next forward; this one does not.) In haotian-liu/LLaVA issue #821 someone wonders why ZeRO-2 runs slower than ZeRO-3; the configuration is not all there, but this is one possible reason.
#
# So 1.5 is a ratio of **bytes**. The ratio of times can be 1.5, or 1, or less.

# %% [markdown] id="timeline-intro" lang="zh-CN"
# ## 在时间线上看
#
# 一个真的在训练的小模型，预取关着。“通信”和“计算”两行怎样错开？先猜再动：
#
# - 预取调到 1、2、4。一步短了多少，从哪一档起不再变短？峰值呢？
# - 关掉“通信与计算重叠”。
# - 微批次大小从 1 调到 8。通信那一行变长了吗？
# - 阶段换成 1。通信那一行剩多少？（这里一步累积两个微批次。）

# %% [markdown] id="timeline-intro" lang="en"
# ## On the timeline
#
# A small model, really being trained, with prefetch off. How do the communication and the compute lane alternate? Guess, then move:
#
# - Set prefetch to 1, 2, 4. How much shorter does the step get, and from where on no more? And the peak?
# - Turn “communication overlaps computing” off.
# - Raise the micro-batch size from 1 to 8. Does the communication lane get longer?
# - Go to stage 1. How much of that lane is left? (A step here accumulates two micro-batches.)

# %% id="timeline-prefetch" tags=["timeline"]
timeline(stage=3, dp_size=4, prefetch_depth=0)

# %% [markdown] id="culprit" lang="zh-CN"
# ## 回到 #1174
#
# 前向要多等 420 毫秒，线上按峰值只要约 30 毫秒，而且还有 60 毫秒的计算可以遮住它。带宽解释不了，那就看**次数**。用 PR #1188 里给出的形状（隐藏维度 2560，64 层），按今天 DeepSpeed 的规则数一数前向要收集几次；再假定每次通信有 50 微秒的固定开销，看整步的下界怎么变。

# %% [markdown] id="culprit" lang="en"
# ## Back to #1174
#
# Forward waits 420 milliseconds longer. The wire at its peak needs about 30, and there are 60 of computing to hide them. Bandwidth does not explain it, so look at the **number of calls**. The cell takes the shape given in PR #1188 (hidden size 2560, 64 layers), counts the gathers of a forward pass by today's DeepSpeed rules, and prints the bound of the whole step, first without and then with 50 microseconds of fixed cost for each call.

# %% id="live-culprit" tags=["live"]
config = {"model_type": "gpt2", "n_embd": 2560, "n_layer": 64,
          "n_head": 40, "n_positions": 512, "vocab_size": 32003}
step = deepspeed(model_from_hf_config(config), 8, stage=3)
slow = Interconnect("nvlink", 300e9, "assumed", latency_s=50e-6)
print(step.total(phase="forward")["calls"])
for link in ("nvlink-a100", slow):
    print(f"{step.lower_bound_s(link):.3f} s")

# %% [markdown] id="culprit-read" lang="zh-CN"
# 一百多次，每次都有启动的开销。不过 50 微秒一次，整步只多出几十毫秒；要凑够 420 毫秒，每次得白等 {{ 420 / 173 | num 1 }} 毫秒。所以一定还有别的在等。同一个人随后提交的 PR #1188 点出两处：每次收集都先等前一次通信结束，“异步”其实不异步；收集完还多拷贝一遍。去掉这些之后，前向从约 470 毫秒降到约 270 毫秒，反向从约 900 毫秒降到约 670 毫秒。**一个字节都没少发。**
#
# 诊断的顺序值得记住：先算下界；实测接近下界，就去减字节或换网络；差得远，就去数调用、看有没有真的重叠。

# %% [markdown] id="culprit-read" lang="en"
# More than a hundred, each with its start-up cost. Yet at 50 microseconds apiece they add only some tens of milliseconds to the whole step; to make 420, every call would have to wait {{ 420 / 173 | num 1 }} milliseconds. So something else was waiting. The same person's PR #1188 names two things: every gather first waited for the previous communication to finish, so that the asynchronous call was not asynchronous, and its result was copied once more afterwards. With both removed, forward went from about 470 milliseconds to 270 and backward from 900 to 670. **Not one byte fewer was sent.**
#
# The order of diagnosis is worth keeping. Work out the bound. If the measurement is near it, send fewer bytes or buy a faster network. If it is far away, count calls and check that anything overlaps at all.

# %% [markdown] id="order" lang="zh-CN"
# ## 通信成了瓶颈，先试什么
#
# 1. **加大微批次**，减少累积。通信不变，token 变多。
# 2. **降一个阶段**。显存够用阶段 2，就别用阶段 3；够用阶段 1，累积就不再花通信。
# 3. **少而大的收集**。按整层收集，不按每个线性层；预取开到 1。DeepSpeed 的 issue #5047 里，FSDP 快了约一成，提问者认为就差在 ZeRO-3 把收集切得太碎。
# 4. **别让大家都绕远路**。机内快、机间慢时，把分片限制在机内（FSDP 的混合分片、ZeRO++ 的 hpZ、MiCS），拿显存换机间通信。
# 5. **压缩**。梯度用 BF16 归约，不用 FP32。先确认数值没有问题（第 9 课）。

# %% [markdown] id="order" lang="en"
# ## What to try when communication is the bottleneck
#
# 1. **A larger micro-batch**, less accumulation. The same traffic carries more tokens.
# 2. **One stage lower.** If stage 2 fits, do without stage 3; if stage 1 fits, accumulation costs no traffic any more.
# 3. **Few and large gathers.** By layer and not by linear module; prefetch at 1. In DeepSpeed's issue #5047 FSDP was about a tenth faster, and the reporter blames ZeRO-3's many small gathers.
# 4. **Short ways.** Where the node is fast inside and slow outside, keep the shards inside it (FSDP's hybrid sharding, ZeRO++'s hpZ, MiCS) and pay for the traffic between nodes with memory.
# 5. **Fewer bytes.** Reduce gradients in BF16 instead of FP32, once you know the numbers bear it (lesson 9).

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 把数据并行度从 8 加到 64，阶段 3 下每个 rank 的状态缩到八分之一。每个 rank 每步要发的字节呢？
#
# <details><summary>想好了再展开</summary>
#
# 不减反增，从 7/8 轮变成 63/64 轮，多了 {{ (63 / 64) / (7 / 8) - 1 | pct 1 }}。更要紧的是，64 个 rank 多半跨了机器，最慢的那段链路从 NVLink 变成了网卡。若全局批次不变，每个 rank 的 token 也只剩八分之一，遮不住的通信就露出来了。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# Going from 8 to 64 data-parallel ranks at stage 3, the state on each rank falls to an eighth. What about the bytes each rank sends in a step?
#
# <details><summary>Think first, then unfold</summary>
#
# They grow, from 7/8 of a round to 63/64, by {{ (63 / 64) / (7 / 8) - 1 | pct 1 }}. What matters more: 64 ranks probably span several nodes, and the slowest link is now a network card where it was NVLink. And with the same global batch each rank has an eighth of the tokens, so traffic that used to hide comes into view.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说你的网络能跑到标称值。所有时间都是下界，除非写明了效率或延迟；那 50 微秒是假定的，不是测的。
# - 没有说环形是唯一的算法。NCCL 会按规模换成树形等算法，字节数和延迟都不同。
# - 没有算通信核占用的计算单元，也没有算几个组抢同一张网卡。
# - DeepSpeed 的规则来自 0.19.8，在 CPU 上用 gloo 数过调用；#1174 是 0.3.16 的事，按今天的规则数出的次数只能作参考。
#
# ## 资料
#
# - Rajbhandari 等，*ZeRO*，arXiv:1910.02054，第 7 节：2Ψ 与 3Ψ。论文没有讨论梯度累积，那一节的结论由规则推出。
# - NVIDIA nccl-tests（版本 03a204a），PERFORMANCE.md：各集合通信的环形系数。
# - Wang 等，*ZeRO++*，arXiv:2306.10209；Zhang 等，*MiCS*，arXiv:2205.00119：把通信留在机内。
# - DeepSpeed issue #1174、PR #1188（2021 年，DeepSpeed 0.3.16，PyTorch 1.8.0）；DeepSpeed issue #5047；haotian-liu/LLaVA issue #821。
# - A100 与 PCIe、InfiniBand、以太网的标称值见 `interconnect("…").source`。
#
# 资料核对日期：2026-09-10。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - That your network reaches its rating. All times are lower bounds unless an efficiency or a latency is given, and those 50 microseconds are assumed, not measured.
# - That a ring is the only algorithm. NCCL switches to trees and others with size; bytes and latency differ.
# - What communication kernels take from computing, or what happens when several groups share one network card.
# - That #1174 ran by these rules. They are DeepSpeed 0.19.8's, with calls counted on CPU under gloo; the issue is about 0.3.16, and the number of calls is only a guide.
#
# ## Sources
#
# - Rajbhandari et al., *ZeRO*, arXiv:1910.02054, section 7: 2Ψ and 3Ψ. The paper does not discuss accumulation; that part follows from the rules.
# - NVIDIA nccl-tests (at 03a204a), PERFORMANCE.md: ring factors of the collectives.
# - Wang et al., *ZeRO++*, arXiv:2306.10209; Zhang et al., *MiCS*, arXiv:2205.00119: keeping traffic inside the node.
# - DeepSpeed issue #1174 and PR #1188 (2021, DeepSpeed 0.3.16, PyTorch 1.8.0), issue #5047; haotian-liu/LLaVA issue #821.
# - Ratings of the A100, PCIe, InfiniBand and Ethernet: see `interconnect("…").source`.
#
# Sources checked on 2026-09-10.
