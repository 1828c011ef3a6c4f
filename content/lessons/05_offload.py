# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: offload
#   number: 5
#   checked: 2026-09-10
#   title:
#     en: "It fits now. Why does a step take twenty seconds?"
#     zh-CN: "装进去了，为什么一步要二十几秒"
#   summary:
#     en: "Offloading to host memory and NVMe buys capacity with time. Where each byte lies, what must move in a step, the least a step can take, and two surprises in host memory."
#     zh-CN: "把状态卸载到内存和 NVMe，是拿时间换容量。每个字节放在哪里，每一步要搬多少，一步至少多久，以及内存这一侧的两个意外。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# DeepSpeed 的 issue #1635 里有一段计时。一个 1.35B 参数的 GPT，一张 RTX 3090，ZeRO-3，优化器卸载（offload）到内存：前向 0.38 秒，反向 0.86 秒，参数更新 22.9 秒。提问的人说：CPU 有 AVX512，更新不该超过 5 秒，到底慢在哪里？
#
# 不卸载的话，模型状态要 {{ ledger(1.35e9) | GB 1 }}，{{ "24 GB" }} 的卡留给激活的地方所剩无几。卸载之后宽裕了，一步的时间却变成前向加反向的 {{ (0.3766 + 0.8646 + 22.8809) / (0.3766 + 0.8646) | num 0 }} 倍。
#
# **能装下更大的模型，和把同一个模型训得更快，是两个目标。** 所以这一课记两本账：一本记每个字节放在哪里，一本记每一步要搬多少、至少花多久。

# %% [markdown] id="question" lang="en"
# DeepSpeed's issue #1635 holds a few lines of timing. A GPT with 1.35B parameters, one RTX 3090, ZeRO-3, the optimizer offloaded to host memory: forward 0.38 seconds, backward 0.86, update 22.9. The CPU has AVX512, says the reporter, and an update should stay below five seconds. Where do the others go?
#
# Without offloading, the model states would take {{ ledger(1.35e9) | GB 1 }} and leave little of a {{ "24 GB" }} card for activations. With it there is room, and a step takes {{ (0.3766 + 0.8646 + 22.8809) / (0.3766 + 0.8646) | num 0 }} times as long as its forward and backward.
#
# **To hold a larger model and to train the same model faster are two different goals.** So this lesson keeps two accounts: where each byte lies, and what has to move in a step and how long that takes at least.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="places" lang="zh-CN"
# ## 第一本账：放在哪里
#
# 五行账一行都没少，只是换了地方。三个地方可选：显存（device）、内存（cpu）、固态盘（nvme）。规则有三条：
#
# - 优化器那三行（主权重、一阶矩、二阶矩）从阶段 1 起可以离开显存。
# - 梯度跟着优化器走：在哪里更新，就送到哪里。
# - 参数要到阶段 3 才能离开，因为只有那时每个 rank 才不必时刻持有整份参数。
#
# 同一台机器上的 rank 共用一份内存。算内存要按**机器**算，算显存才按 **rank** 算，这两个数常常被混在一起。

# %% [markdown] id="places" lang="en"
# ## First account: where the bytes lie
#
# Offloading removes none of the five rows. It moves them, to one of three places: device memory, host memory (cpu) or a solid-state drive (nvme). Three rules apply:
#
# - The optimizer's rows (master weights, both moments) may leave the device from stage 1 on.
# - Gradients follow the optimizer, because they are needed where the update happens.
# - Parameters may leave only at stage 3, the first stage at which a rank need not hold all of them all the time.
#
# All ranks of a node share one host memory. Host memory is counted by **node**, device memory by **rank**, and the two are easily mixed up.

# %% [markdown] id="guess-host" lang="zh-CN"
# 先猜：七十亿参数，八个 rank 在一台机器上。

# %% [markdown] id="guess-host" lang="en"
# A guess first: seven billion parameters, eight ranks in one node.

# %% id="predict-host" tags=["predict"]
predict("offload-host-7b")

# %% id="live-rows" tags=["live"]
placement = Placement("cpu", pin_memory=False)
plan = offload_plan(7e9, dp_size=8, stage=3, placement=placement)
for row in plan.rows:
    print(f"{row.tier:6}  {row.num_bytes / GB:5.2f} GB  {row.category}")
print(format_bytes(plan.bytes_per_rank("device"), "GB"))
print(format_bytes(plan.bytes_per_node("cpu"), "GB"))

# %% [markdown] id="rows-try" lang="zh-CN"
# 改一改：把 `Placement("cpu", …)` 换成 `Placement("cpu", "cpu", …)`，参数也走，显存一侧剩多少？再把 `stage` 改成 2，让参数留在卡上：内存一侧变了吗，显存一侧呢？（阶段 2 时 `Placement("cpu", "cpu")` 会被拒绝，报错会说出原因。）

# %% [markdown] id="rows-try" lang="en"
# Now change it. Write `Placement("cpu", "cpu", …)` to send the parameters away too: what is left on the device? Then set `stage=2` with the parameters on the card: does host memory change, and does the device? (`Placement("cpu", "cpu")` is refused at stage 2, and the error says why.)

# %% [markdown] id="pinned" lang="zh-CN"
# ## 锁页内存按 2 的幂取整
#
# 显卡要直接读写内存，那块内存必须锁页（pinned），不能被系统换出。锁页才有全速的 PCIe 和异步拷贝，所以框架大多建议打开。代价写在 PyTorch 的 issue #95823 里：一个张量，`pin_memory=True` 之后，占掉的内存将近它自己的两倍。

# %% [markdown] id="pinned" lang="en"
# ## Pinned memory is rounded up to a power of two
#
# For the card to read and write host memory directly, that memory must be pinned: the system may not swap it out. Pinning gives full PCIe speed and asynchronous copies, so most frameworks recommend it. Its price is in PyTorch's issue #95823: with `pin_memory=True` one tensor took almost twice its size.

# %% id="predict-pinned" tags=["predict"]
predict("offload-pinned-block")

# %% [markdown] id="pinned-why" lang="zh-CN"
# PyTorch 的锁页分配器把每一块都取整到 2 的幂，方便以后复用。issue 里的张量是 {{ 2 * 4347592704 | MiB 0 }}，刚过 {{ "8 GiB" }}，于是占了 {{ pinned_host_bytes(2 * 4347592704) | MiB 0 }}。#150517 里的张量小得多：{{ 2 * 18944 * 3584 | MiB 1 }} 占了 {{ pinned_host_bytes(2 * 18944 * 3584) | MiB 0 }}。同一条规则，最坏时占掉的内存将近一半是空的。
#
# 回到上面那台机器：每一行都取整之后，内存从 {{ offload_plan(7e9, 8, 3, Placement("cpu", pin_memory=False)).bytes_per_node("cpu") | GB 1 }} 涨到 {{ offload_plan(7e9, 8, 3, Placement("cpu")).bytes_per_node("cpu") | GB 1 }}。这里假定一行就是一块；框架怎么切块，浪费就怎么变。

# %% [markdown] id="pinned-why" lang="en"
# PyTorch's pinned allocator rounds every block to a power of two so that it can be reused. The tensor in the issue has {{ 2 * 4347592704 | MiB 0 }}, just past {{ "8 GiB" }}, and took {{ pinned_host_bytes(2 * 4347592704) | MiB 0 }}. The one in #150517 is small: {{ 2 * 18944 * 3584 | MiB 1 }} took {{ pinned_host_bytes(2 * 18944 * 3584) | MiB 0 }}. One rule, and in the worst case nearly half of what is taken stays empty.
#
# Back to the node above: with every row rounded, host memory goes from {{ offload_plan(7e9, 8, 3, Placement("cpu", pin_memory=False)).bytes_per_node("cpu") | GB 1 }} to {{ offload_plan(7e9, 8, 3, Placement("cpu")).bytes_per_node("cpu") | GB 1 }}. That takes each row for one block; how a framework cuts its blocks decides how much is lost.

# %% id="live-pinned" tags=["live"]
for mib in (127, 128, 129, 255, 257):
    print(mib, format_bytes(pinned_host_bytes(mib * 2**20), "MiB"))

# %% [markdown] id="moves" lang="zh-CN"
# ## 第二本账：每步搬什么
#
# 优化器到了内存，更新就在 CPU 上做。一步里必须发生这几件事：
#
# 1. 反向算出梯度，经 PCIe 送下去，每参数 2 字节。
# 2. CPU 读三行 FP32 和梯度，算出新值，写回三行 FP32，再写出一份 BF16 参数。
# 3. 新参数经 PCIe 送上来，每参数 2 字节。
#
# PCIe 上一来一回只有 4 字节。真正大的一笔在第 2 件里，它不走 PCIe，所以容易漏掉。有多大？先猜 #1635 的那个模型。

# %% [markdown] id="moves" lang="en"
# ## Second account: what moves in a step
#
# With the optimizer in host memory, the CPU does the update. In each step these things must happen:
#
# 1. Backward produces gradients, which go down over PCIe: 2 bytes a parameter.
# 2. The CPU reads the three FP32 rows and the gradients, writes the three FP32 rows back, and writes a BF16 copy of the new parameters.
# 3. The new parameters come up over PCIe: 2 bytes a parameter.
#
# PCIe sees 4 bytes a parameter, down and up together. The large item is the second, and since it never crosses PCIe it is the one that people forget. How large is it for the model of #1635?

# %% id="predict-update" tags=["predict"]
predict("offload-update-traffic")

# %% [markdown] id="bound" lang="zh-CN"
# ## 一步至少多久
#
# 有了搬运量，除以各自的带宽，就得到每个部件至少要忙多久。由此能写出两个下界：
#
# - **全都重叠**：只算最忙的那个部件。再好的实现也快不过它。
# - **依次发生**：更新要等梯度到齐，新参数要等更新做完。前向和反向、更新、参数上行，三段接着走。
#
# 下面用一台 2020 年的服务器（PCIe 4.0，十六条 DDR4-3200 通道），把第二个下界手写一遍，再和程序对。

# %% [markdown] id="bound" lang="en"
# ## The least a step can take
#
# Divide each amount by its bandwidth and you know how long each part is busy at least. Two lower bounds follow:
#
# - **Everything overlaps.** Only the busiest part counts. No implementation beats this one.
# - **One after the other.** The update waits for the gradients and the new parameters wait for the update: passes, update and upload follow each other.
#
# The cell writes the second bound by hand for a server of 2020 (PCIe 4.0, sixteen channels of DDR4-3200) and compares it with the package.

# %% id="live-bound" tags=["live"]
P, server = 1_350_000_000, SERVER_2020
plan = offload_plan(P, dp_size=1, stage=3, placement=Placement("cpu"))
verdict = offload_verdict(plan, server, compute_s=1.24)
one_way = 2 * P / server.pcie.bytes_per_s
update = 28 * P / server.cpu_update.bytes_per_s
by_hand = max(1.24, one_way) + update + one_way
assert abs(by_hand - verdict.step_s_in_turn) < 1e-9
print(f"{verdict.step_s_at_least:.2f} s  {verdict.bottleneck}")
print(f"{by_hand:.2f} s")

# %% [markdown] id="culprit" lang="zh-CN"
# ## #1635 慢在哪里
#
# 下界说的是一秒多，实测二十几秒，差得太远，正好反过来用：**先看哪个部件解释不了这段时间，再看解释得了的那个要慢到什么程度。**
#
# PCIe 3.0 全速送一趟梯度只要 {{ 2 * 1.35e9 / interconnect("pcie3-x16").bytes_per_s | num 2 }} 秒，排除。更新那一段实测 21.77 秒，要搬 {{ offload_transfers(offload_plan(1.35e9, 1, 3, Placement("cpu")))[1].num_bytes | GB 1 }}，折合每秒 {{ round(offload_transfers(offload_plan(1.35e9, 1, 3, Placement("cpu")))[1].num_bytes / 21.766) | GB 2 }}。一条 DDR4 通道的峰值就是它的十倍以上。所以内存带宽也不是瓶颈，是 CPU 上的 Adam 自己没有跑起来：没有向量化、线程太少，或者线程跑到了另一个 NUMA 节点上。

# %% [markdown] id="culprit" lang="en"
# ## Where #1635 loses its time
#
# The bound says a good second, the clock says more than twenty. A gap that wide is useful the other way round: **rule out the parts that cannot explain it, then see how slow the remaining one must have been.**
#
# At PCIe 3.0's full rate the gradients go down in {{ 2 * 1.35e9 / interconnect("pcie3-x16").bytes_per_s | num 2 }} seconds, so PCIe is out. The update itself was timed at 21.77 seconds for {{ offload_transfers(offload_plan(1.35e9, 1, 3, Placement("cpu")))[1].num_bytes | GB 1 }}, which makes {{ round(offload_transfers(offload_plan(1.35e9, 1, 3, Placement("cpu")))[1].num_bytes / 21.766) | GB 2 }} a second. A single channel of DDR4 peaks at more than ten times that. Memory bandwidth is not the limit either. Adam on the CPU never got going: not vectorised, too few threads, or threads that wandered to the other NUMA node.

# %% id="live-culprit" tags=["live"]
plan = offload_plan(1.35e9, 1, stage=3, placement=Placement("cpu"))
observed = Interconnect("observed", 37.8e9 / 21.766, "DeepSpeed#1635")
slow = Machine("pcie3-x16", SERVER_2020.numa, observed)
verdict = offload_verdict(plan, slow, compute_s=1.24)
for part, seconds in verdict.busy_s.items():
    print(f"{seconds:7.2f} s  {part}")

# %% [markdown] id="culprit-more" lang="zh-CN"
# 表里的 PCIe 是每个 rank 各有一条，CPU 更新和 NUMA 内存带宽则由整台机器共用：八个 rank 的搬运都从同样的内存通道过。把 `offload_plan` 里的 rank 数从 1 改成 8（参数量也改大），看哪几行跟着变。
#
# issue #6834 是同一种病的大号版本：72B 的 Qwen，四台机器，优化器和参数都卸载，每步约八千个 token。维护者读了日志后说，更新从约 0.2 秒变成约 10 秒，五十倍。若每台八张卡，每台机器的 CPU 更新即使跑满内存带宽，也要 {{ offload_verdict(offload_plan(PRESETS["qwen2.5-72b"].num_params, 32, 3, Placement("cpu", "cpu")), SERVER_2020, 1.0).busy_s["CPU update"] | num 1 }} 秒（这里用 Qwen2.5-72B 代替）。也就是说，几倍的差距是物理的，剩下的才是实现的。
#
# 能做的事：确认用的是 DeepSpeedCPUAdam 而不是普通的 Adam；用 `--bind_cores_to_rank` 把线程绑在离显卡近的核上（DeepSpeed 的 PR #7474 里，一个 3B 模型的一步从 3084 毫秒降到 2383 毫秒）；还有最管用的一招，**让一步里的计算更多**，下一节就看到。

# %% [markdown] id="culprit-more" lang="en"
# In this table every rank has a PCIe link of its own, while the CPU update and the NUMA memory are shared by the node: the transfers of eight ranks pass through the same memory channels. Change the number of ranks in `offload_plan` from 1 to 8, with more parameters, and see which lines follow.
#
# Issue #6834 is the same complaint at another size: a 72B Qwen on four nodes, optimizer and parameters offloaded, some eight thousand tokens a step. Reading the log, a maintainer puts the update at about 0.2 seconds without offloading and 10 with it, a factor of fifty. If a node has eight cards, its CPUs need {{ offload_verdict(offload_plan(PRESETS["qwen2.5-72b"].num_params, 32, 3, Placement("cpu", "cpu")), SERVER_2020, 1.0).busy_s["CPU update"] | num 1 }} seconds even at full memory bandwidth (with Qwen2.5-72B standing in). A few times slower is physics; the rest is implementation.
#
# What helps: make sure it is DeepSpeedCPUAdam and not a plain Adam; bind threads to cores near the card with `--bind_cores_to_rank` (in DeepSpeed's PR #7474 a step of a 3B model went from 3084 to 2383 milliseconds); and, best of all, **more computing in a step**, as the next section shows.

# %% [markdown] id="timeline-intro" lang="zh-CN"
# ## 在时间线上看
#
# 这是一个真的在训练的小模型。先看“主机”那一行：CPU 上的 Adam 和搬运占了多长，计算又占了多长。然后做三件事，每次先猜再动：
#
# - 把“卸载到内存”关掉。峰值升到多少，一步缩到多短？
# - 卸载打开，把微批次大小从 1 调到 8。主机那一行变长了吗？它占整步的比例呢？
# - 连参数一起卸载。虚线（长期保存的状态）落到哪里？

# %% [markdown] id="timeline-intro" lang="en"
# ## On the timeline
#
# A small model, really being trained. Look at the host lane first: how long the copies and the CPU's Adam take, and how long computing takes. Then do three things, with a guess before each:
#
# - Turn offloading off. How high does the peak go, and how short does the step get?
# - With offloading on, raise the micro-batch size from 1 to 8. Does the host lane get longer? And its share of the step?
# - Offload the parameters too. Where does the dashed line, the state that is kept, come to lie?

# %% id="timeline-offload" tags=["timeline"]
timeline(stage=3, dp_size=4, offload="optimizer")

# %% [markdown] id="amortise" lang="zh-CN"
# 更新每步只做一次，跟这一步算了多少 token 无关。token 越多，更新摊得越薄。图里的模型很小，主机那一行几乎占满整步；把微批次调大，比例就下来了。
#
# 累积（gradient accumulation）也能摊薄更新，但有一笔跟着涨：阶段 2 起没有整份梯度，每个微批次之后都要把分片送下去。猜猜十六个微批次送多少。

# %% [markdown] id="amortise" lang="en"
# An update happens once a step, however many tokens the step has seen. More tokens spread it thinner. The model in the picture is tiny, so its host lane fills nearly the whole step; a larger micro-batch brings the share down.
#
# Accumulation spreads the update too, but one item grows with it: from stage 2 on there is no whole gradient, so the shard goes down after every micro-batch. How much is that over sixteen of them?

# %% id="predict-accumulation" tags=["predict"]
predict("offload-accumulation")

# %% [markdown] id="init-oom" lang="zh-CN"
# ## 还没开始训练，内存先满了
#
# DeepSpeed 的 issue #5290：Llama-2-70B，阶段 3。一张卡时，显存先爆；四张卡时，**内存**先爆。卡越多，内存用得越多，跟“分片”的直觉正好相反。
#
# 原因多半在训练之前。如果不用 `zero.Init` 建模型，每个进程都先在内存里建一份完整的模型，再切成分片。FP32 的 70B 是 {{ 4 * 70e9 | GB 0 }}，四个进程就是 {{ 4 * 4 * 70e9 | TB 2 }}。分片救不了它，因为那一刻还没有分片。

# %% [markdown] id="init-oom" lang="en"
# ## Host memory fills up before training begins
#
# DeepSpeed's issue #5290: Llama-2-70B, stage 3. With one card the card runs out first; with four it is the **host**. More cards, more host memory, the reverse of what sharding suggests.
#
# The likely cause comes before training. Unless the model is built under `zero.Init`, every process builds the whole model in host memory and only then cuts it up. In FP32, 70B parameters are {{ 4 * 70e9 | GB 0 }}; four processes make {{ 4 * 4 * 70e9 | TB 2 }}. Sharding cannot help, because at that moment nothing is sharded yet.

# %% id="live-init" tags=["live"]
layer = 32_000 * 8192
for gpus in (1, 4, 8, 16):
    bad = zero3_estimate(70e9, layer, gpus, zero_init=False)
    good = zero3_estimate(70e9, layer, gpus, zero_init=True)
    print(f"{gpus:2}  {format_bytes(bad.cpu_bytes, 'GB', 1):>9}",
          format_bytes(good.cpu_bytes, "GB", 1))

# %% [markdown] id="init-read" lang="zh-CN"
# 这是 DeepSpeed 自己的估算：没有 `zero.Init` 时 4 × n × P × 1.5，n 是一台机器的卡数；有的时候 P 换成最大的一层。1.5 是它留的余量，不是测出来的。若优化器和参数也卸载，式子变成 max(4n, 18) × P × 1.5：18 是卸载状态每参数的字节数（梯度按 FP32，比五行账多 2），4n 超过它之后，建模型又成了最大的一笔。给 `zero3_estimate` 加上 `offload_optimizer=True, offload_param=True` 看看，从几张卡起两列开始分家。

# %% [markdown] id="init-read" lang="en"
# This is DeepSpeed's own estimate: 4 × n × P × 1.5 without `zero.Init`, n being the cards in the node; with it, P is replaced by the largest layer. The 1.5 is a margin that somebody chose. With optimizer and parameters offloaded the formula becomes max(4n, 18) × P × 1.5: the 18 is what the offloaded states take per parameter (gradients in FP32, two bytes more than our five rows), and once 4n exceeds it, building the model is the largest item again. Add `offload_optimizer=True, offload_param=True` to both calls: from how many cards on do the columns part?

# %% [markdown] id="nvme" lang="zh-CN"
# ## 再往下一层：NVMe
#
# 固态盘更大，也更慢。优化器放到 NVMe，每一步都要把三行 FP32 整个读一遍、写一遍。70B、一台机器时，这是读写各 {{ 12 * PRESETS["llama-2-70b"].num_params | GB 0 }}。四块盘每秒读 {{ SERVER_2020.nvme_read.bytes_per_s | GB 0 }}、写 {{ SERVER_2020.nvme_write.bytes_per_s | GB 0 }} 都按标称算，光写就要 {{ 12 * PRESETS["llama-2-70b"].num_params / SERVER_2020.nvme_write.bytes_per_s | num 0 }} 秒。
#
# 下面让一步里累积 1、4、16 个微批次（每个一条 4096 token 的序列，A100 按峰值的一半算）。看最忙的部件在哪里换人，再看最后一列：一步是纯计算的几倍。

# %% [markdown] id="nvme" lang="en"
# ## One level further down: NVMe
#
# A drive is larger and slower still. With the optimizer on NVMe, the three FP32 rows are read and written whole in every step. For 70B in one node that is {{ 12 * PRESETS["llama-2-70b"].num_params | GB 0 }} each way. Four drives at their printed rates, {{ SERVER_2020.nvme_read.bytes_per_s | GB 0 }} a second for reading and {{ SERVER_2020.nvme_write.bytes_per_s | GB 0 }} for writing, need {{ 12 * PRESETS["llama-2-70b"].num_params / SERVER_2020.nvme_write.bytes_per_s | num 0 }} seconds for the writing alone.
#
# The cell accumulates 1, 4 and 16 micro-batches a step (each one sequence of 4096 tokens, an A100 at half its peak). Watch where the bottleneck changes hands, and the last column: how many times longer a step is than its computing.

# %% id="live-nvme" tags=["live"]
model = PRESETS["llama-2-70b"].model
place = Placement("nvme", "cpu", grads="cpu")
plan = offload_plan(model.num_params, 8, 3, place)
flops = step_flops(model, 1, 4096, "full").hardware_flops
for steps in (1, 4, 16):
    passes = steps * compute_s(flops, "a100", efficiency=0.5)
    verdict = offload_verdict(plan, SERVER_2020, passes, steps)
    ratio = verdict.step_s_in_turn / passes
    print(f"{steps:2}  {verdict.bottleneck:10}  {ratio:.2f}")

# %% [markdown] id="worth" lang="zh-CN"
# ## 值不值得
#
# 先问要什么：容量，吞吐，还是两样都要。
#
# - **不卸载就跑不起来。** 那么慢也有价值，问题变成怎么把更新摊薄：加大微批次，多累积几步。
# - **本来就放得下。** 多半不值得。省出来的显存若能换来更大的微批次，才可能把时间赚回来；先用上面的下界算一算，再决定要不要试。
# - **差一点放不下。** 先看别的账：第 4 课的重计算、更多 rank 的阶段 3、8 位优化器。它们也收费，但收的不是 PCIe 和 CPU 的时间。
#
# 从优化器开始卸载。它占 16 字节里的 12，每步只用一次；参数每次前向、反向都要，搬得最勤，省得最少。

# %% [markdown] id="worth" lang="en"
# ## Is it worth it?
#
# Ask first what you need: capacity, throughput, or both.
#
# - **It does not run without.** Then slow is better than not at all, and the question becomes how to spread the update: a larger micro-batch, more accumulation.
# - **It fits anyway.** Then probably not. Only if the freed memory buys a larger micro-batch can the time come back; work out the bound before you try.
# - **It almost fits.** Look at the other accounts first: recomputation (lesson 4), stage 3 over more ranks, an 8-bit optimizer. They charge too, but not in PCIe and CPU time.
#
# Start with the optimizer. It is 12 of the 16 bytes and is used once a step. Parameters are needed in every forward and backward pass: they travel most and save least.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 同事说：“PCIe 换成 5.0，带宽翻倍，卸载的那一步就能快一倍。”在 #1635 的机器上，这话对吗？
#
# <details><summary>想好了再展开</summary>
#
# 不对。那一步里 PCIe 只占几分之一秒，二十几秒花在 CPU 的更新上。带宽翻倍，省下的还不到总时间的百分之一。先找出最忙的部件，再决定换什么。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# “Move to PCIe 5.0,” says a colleague, “twice the bandwidth, and the offloaded step takes half the time.” Is that so on the machine of #1635?
#
# <details><summary>Think first, then unfold</summary>
#
# No. PCIe works for a fraction of a second in that step; the twenty seconds go into the update on the CPU. Twice the bandwidth saves less than a hundredth of the total. Find the busiest part before you buy another one.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说你的机器有这些带宽。`SERVER_2020` 里都是标称峰值，算出来的是下界；换成你测的数，写一个自己的 `Machine`。
# - 没有说框架会把一切都重叠起来。两个下界之间差多少，要看实现，也要看延迟更新之类的选项。
# - 没有算激活的卸载，也没有算检查点文件、数据加载和操作系统要占的内存。
# - 锁页内存取整的规则属于 PyTorch 1.11 之后的分配器。2026 年 1 月的 PR #171662 提出给它加一个阈值，大块不再取整；你的版本有没有，请自己查。
#
# ## 资料
#
# - Ren 等，*ZeRO-Offload*，arXiv:2101.06840，第 3 节：梯度下行、参数上行，每参数 4 字节。
# - Rajbhandari 等，*ZeRO-Infinity*，arXiv:2104.07857，第 3、4 节：NVMe 与带宽要求。
# - DeepSpeed issue #1635（PyTorch 1.7.1）、#6834（DeepSpeed 0.14.5）、#5290，PR #7474；PyTorch issue #95823、#150517。
# - DeepSpeed 的 ZeRO-3 内存估算函数，版本 0.19.8。
#
# 资料核对日期：2026-09-10。issue 里的数字是提问者报的；关于 #1635 的原因，“CPU 更新折合多少带宽”是这里算的，线程和 NUMA 是推测，issue 没有给出定论；#5290 的解释也是我们的。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - That your machine has these bandwidths. `SERVER_2020` holds printed peaks, so results are lower bounds; measure yours and write a `Machine` of your own.
# - That a framework overlaps everything. Where it lands between the two bounds depends on the implementation, and on options such as a delayed update.
# - Anything about offloading activations, or about the host memory that checkpoints, data loading and the system take.
# - The rounding rule belongs to PyTorch's pinned allocator since 1.11. PR #171662 of January 2026 proposes a threshold above which blocks are not rounded; whether your version has it, look up.
#
# ## Sources
#
# - Ren et al., *ZeRO-Offload*, arXiv:2101.06840, section 3: gradients down, parameters up, 4 bytes a parameter.
# - Rajbhandari et al., *ZeRO-Infinity*, arXiv:2104.07857, sections 3 and 4: NVMe and the bandwidth it takes.
# - DeepSpeed issues #1635 (PyTorch 1.7.1), #6834 (DeepSpeed 0.14.5), #5290 and PR #7474; PyTorch issues #95823 and #150517.
# - DeepSpeed's memory estimator for ZeRO-3, version 0.19.8.
#
# Sources checked on 2026-09-10. Figures from issues are the reporters'. For #1635, the effective bandwidth is worked out here; threads and NUMA are conjecture, as the issue came to no verdict. The explanation of #5290 is ours as well.
