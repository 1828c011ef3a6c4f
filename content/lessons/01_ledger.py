# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: ledger
#   number: 1
#   checked: 2026-09-10
#   title:
#     en: "Fourteen gigabytes of weights, and the card is full"
#     zh-CN: "权重才十几 GB，为什么训练装不下"
#   summary:
#     en: "What each training rank keeps for every parameter, what ZeRO stages 1, 2 and 3 divide, and why the result is a floor and not the peak."
#     zh-CN: "训练时每个 rank 为每个参数保存哪些字节；ZeRO 的三个阶段各分摊什么；为什么算出来的是下界而不是峰值。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 一个 7B 模型，BF16 权重是 {{ 2 * 7e9 | GB 0 }}。手边正好有一张 {{ "16 GB" }} 的显卡，能训练它吗？
#
# 推理时，显存里主要是权重，再加上运行时的缓存。训练时，每个参数身后还跟着一串东西：它的梯度、优化器为它记的账。多数人第一次遇到 OOM，都是因为只数了权重。
#
# 这一课只做一件事：把这串东西一字节一字节数清楚。每次运行之前，请先写下你的预测。猜错了不要紧，页面会告诉你错在哪一步。

# %% [markdown] id="question" lang="en"
# The BF16 weights of a 7B model take {{ 2 * 7e9 | GB 0 }}. You have a card with {{ "16 GB" }}. Can you train the model on it?
#
# For inference the memory of the card holds little more than the weights and a cache. In training, each parameter drags a few more things behind it: its gradient, and the books that the optimizer keeps about it. Most people's first out-of-memory error comes from counting the weights alone.
#
# This lesson does one thing: it counts those bytes, row by row. Before each run, write down what you expect. A wrong guess costs nothing here, and the page will tell you which step went astray.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import explore, predict, use_language

use_language(LANG)

# %% [markdown] id="first-guess" lang="zh-CN"
# ## 先猜一次
#
# 用混合精度 Adam 训练 20B 参数的模型，先不算激活。不看下文，你觉得一张卡要为它长期保存多少字节？

# %% [markdown] id="first-guess" lang="en"
# ## Guess first
#
# Train a 20B model with mixed-precision Adam, and leave activations out of it for now. Without reading on: how many bytes must one rank keep, all the time?

# %% id="predict-7b" tags=["predict"]
predict("adam-20b-total")

# %% [markdown] id="rows" lang="zh-CN"
# ## 一个参数，五行账
#
# 混合精度训练用低精度做矩阵乘法，用 FP32 做更新。于是同一个参数要保存五份东西：
#
# - **参数**（`params`），BF16，2 字节。前向和反向都用它。
# - **梯度**（`grads`），BF16，2 字节。反向算出来，等着优化器来取。
# - **主权重**（`master_params`），FP32，4 字节。学习率乘以梯度往往远小于权重本身，BF16 只有约三位有效数字，直接累加会把小更新舍入掉，所以另存一份 FP32 的。
# - **一阶矩**（`exp_avg`），FP32，4 字节。Adam 对梯度的滑动平均。
# - **二阶矩**（`exp_avg_sq`），FP32，4 字节。Adam 对梯度平方的滑动平均。
#
# 加起来是 {{ ADAM_MIXED.bytes_per_param | int }} 字节。7B 参数就是 {{ ledger(7e9) | GB 0 }}，也就是 {{ ledger(7e9) | GiB 1 }}。运行下面的代码，看每一行各占多少。

# %% [markdown] id="rows" lang="en"
# ## One parameter, five rows
#
# Mixed-precision training multiplies matrices in a short format and updates in FP32. So each parameter is present five times over:
#
# - **Parameters** (`params`), BF16, 2 bytes. Forward and backward read these.
# - **Gradients** (`grads`), BF16, 2 bytes. Backward writes them and the optimizer collects them.
# - **Master weights** (`master_params`), FP32, 4 bytes. Learning rate times gradient is often far smaller than the weight; BF16 has about three significant digits, and a small update added to it would be rounded away. Hence a second copy in FP32.
# - **First moment** (`exp_avg`), FP32, 4 bytes. Adam's running mean of the gradient.
# - **Second moment** (`exp_avg_sq`), FP32, 4 bytes. Adam's running mean of its square.
#
# Together that is {{ ADAM_MIXED.bytes_per_param | int }} bytes. For 7B parameters it makes {{ ledger(7e9) | GB 0 }}, which is {{ ledger(7e9) | GiB 1 }}. Run the cell and look at the share of each row.

# %% id="live-rows" tags=["live"]
print(ledger(num_params=7e9))

# %% [markdown] id="rows-try" lang="zh-CN"
# 改一改：把 `7e9` 换成你常用的模型，或者写 `PRESETS["llama-2-7b"].num_params`。“7B”只是个绰号，Llama-2-7B 其实有 {{ PRESETS["llama-2-7b"].num_params | count }} 个参数。
#
# **GB 和 GiB 不是一回事。** {{ "1 GB" }} 是十亿字节，{{ "1 GiB" }} 是 2<sup>30</sup> 字节，后者大了约 7%。`nvidia-smi` 和 PyTorch 按二进制计，厂商标称和论文多按十进制计。本站每个数字都带单位，正是因为这 7% 常常决定装得下还是装不下。

# %% [markdown] id="rows-try" lang="en"
# Now change it: replace `7e9` by a model you use, or write `PRESETS["llama-2-7b"].num_params`. “7B” is a nickname; Llama-2-7B has {{ PRESETS["llama-2-7b"].num_params | count }} parameters.
#
# **GB and GiB differ.** One GB is 10<sup>9</sup> bytes, one GiB is 2<sup>30</sup>, some 7% more. `nvidia-smi` and PyTorch count in binary units; data sheets and papers mostly in decimal ones. Every figure on this site carries its unit, because those 7% often decide whether a run fits.

# %% [markdown] id="convention" lang="zh-CN"
# ## 这是约定，不是定律
#
# “每参数 16 字节”取决于五个选择，换掉任何一个，数字就变：
#
# - 有的框架用 FP32 累加梯度，梯度那一行是 4 字节，合计 18；
# - 有的 BF16 训练不留主权重；
# - 8 位优化器把两个矩各压到约 1 字节；
# - 换成带动量的 SGD，二阶矩就没有了。
#
# 所以别人报一个数，先问：**梯度是什么类型？有没有主权重？矩是几位的？** 同一个问题，公开的计算器之间能差出四倍，多半就差在这三问上。本课后面都用上面的五行账。

# %% [markdown] id="convention" lang="en"
# ## A convention, not a law
#
# “16 bytes a parameter” rests on five choices. Change one and the number moves:
#
# - some frameworks accumulate gradients in FP32, so that row is 4 bytes and the sum 18;
# - some BF16 runs keep no master weights at all;
# - 8-bit optimizers squeeze each moment into about one byte;
# - SGD with momentum has no second moment.
#
# When someone quotes a figure, ask three things: **what type are the gradients, is there a master copy, how wide are the moments?** Public calculators differ by a factor of four on one and the same question, and those three answers are most of it. From here on this lesson keeps to the five rows above.

# %% id="live-recipes" tags=["live"]
for name in ("adam-mixed", "megatron-bf16", "adam-bf16-no-master",
             "adam-8bit", "sgd-momentum"):
    print(f"{recipe(name).bytes_per_param:>8}  {name}")

# %% [markdown] id="weights-only" lang="zh-CN"
# ## “权重只有 {{ "14 GB" }}”错在哪
#
# 这句话本身没错，错在拿它选训练用的卡。权重只占五行账的八分之一，其余八分之七是训练才有的状态。{{ 2 * 7e9 | GB 0 }} 的权重放得进 {{ "16 GB" }} 的卡，{{ ledger(7e9) | GB 0 }} 的训练状态连 {{ "80 GB" }} 的卡也放不下，而这时一个激活都还没算。

# %% [markdown] id="weights-only" lang="en"
# ## What is wrong with “the weights are only {{ "14 GB" }}”
#
# Nothing, until it picks the card for training. The weights are one eighth of the five rows; the other seven eighths exist only in training. {{ 2 * 7e9 | GB 0 }} of weights fit a card of {{ "16 GB" }}. {{ ledger(7e9) | GB 0 }} of training state do not fit one of {{ "80 GB" }}, and not a single activation has been counted yet.

# %% [markdown] id="redundancy" lang="zh-CN"
# ## ZeRO：同样的账，别每人抄一本
#
# 普通数据并行（data parallel）里，N 个 rank 各算一份数据，却各自保存一整套状态。同样的主权重、同样的矩，抄了 N 遍。ZeRO 的想法是：每个 rank 只保管其中 1/N，要用时再互相取。它分三步，一步比一步彻底：
#
# | 阶段 | 分摊到各 rank 的 | 每个 rank 仍然整份保存的 | 每 rank 字节数 |
# | --- | --- | --- | --- |
# | 0 | 无 | 五行全部 | 16P |
# | 1 | 主权重、一阶矩、二阶矩 | 参数、梯度 | 4P + 12P/N |
# | 2 | 再加梯度 | 参数 | 2P + 14P/N |
# | 3 | 再加参数 | 无（算到某层时临时收集） | 16P/N |
#
# P 是参数量，N 是数据并行度。三个式子不用背：**写下五行账，看哪几行被 N 除，再加起来**。训练仍是逻辑上的数据并行，只是每个设备长期持有的东西变了。

# %% [markdown] id="redundancy" lang="en"
# ## ZeRO: one set of books, not N copies of it
#
# In plain data parallelism, N ranks work on different data and each keeps the whole state: the same master weights, the same moments, N times over. ZeRO lets each rank keep 1/N of it and fetch the rest when needed, in three steps, each more thorough than the last:
#
# | stage | divided among the ranks | still whole on every rank | bytes per rank |
# | --- | --- | --- | --- |
# | 0 | nothing | all five rows | 16P |
# | 1 | master weights, both moments | parameters, gradients | 4P + 12P/N |
# | 2 | gradients as well | parameters | 2P + 14P/N |
# | 3 | parameters as well | nothing (a layer is gathered while it computes) | 16P/N |
#
# P is the parameter count, N the data-parallel degree. There is nothing to memorise: **write the five rows, see which of them are divided by N, add up.** It remains data-parallel training; what changes is what each device holds for good.

# %% [markdown] id="guess-stages" lang="zh-CN"
# 两道题，先写数再运行。写错了，页面会指出你多除或少除了哪一行。

# %% [markdown] id="guess-stages" lang="en"
# Two questions; write a number before you run. If it is off, the page names the row that you divided once too often, or forgot.

# %% id="predict-stage1" tags=["predict"]
predict("zero1-20b-4")

# %% id="predict-stage2" tags=["predict"]
predict("zero2-20b-10")

# %% [markdown] id="explore-intro" lang="zh-CN"
# ## 拖一拖
#
# 换模型、换 N、换阶段，看五行账怎么变。虚线是常见显卡的容量。你也可以粘贴任意 Hugging Face `config.json`，参数量会从配置逐个张量算出来。
#
# 试着找三件事：阶段 1 时，N 从 8 加到 1024，柱子为什么几乎不再变矮？阶段 2 的地板是哪一行？70B 在阶段 3 要多少 rank 才降到 {{ "80 GB" }} 以下？

# %% [markdown] id="explore-intro" lang="en"
# ## Move it
#
# Change the model, N and the stage, and watch the five rows. The dashed lines are common card sizes. You may also paste any Hugging Face `config.json`: the parameter count is then worked out from it, tensor by tensor.
#
# Look for three things. At stage 1, why does the bar hardly shrink between N = 8 and N = 1024? Which row is the floor of stage 2? How many ranks does a 70B model need at stage 3 to get below {{ "80 GB" }}?

# %% id="explore" tags=["explore"]
explore()

# %% [markdown] id="by-hand" lang="zh-CN"
# ## 自己算一遍，再和程序对
#
# 下面第一行是手写的阶段 2 公式，第二行问程序，第三行断言两者相等。改 `P`、`N`，或把公式改成阶段 1、阶段 3 的样子，直到断言重新通过。

# %% [markdown] id="by-hand" lang="en"
# ## By hand, then against the package
#
# The cell has the stage 2 formula written out, the package's answer, and an assertion that they agree. Change `P` and `N`, or rewrite the formula for stage 1 or 3, until the assertion holds again.

# %% id="live-by-hand" tags=["live"]
P, N = 7_000_000_000, 8
by_hand = 2 * P + 14 * P // N
answer = ledger(num_params=P, dp_size=N, stage=2)
assert by_hand == answer.model_states_bytes_per_rank
print(answer)

# %% [markdown] id="floor" lang="zh-CN"
# ## 这是下界，不是峰值
#
# 最后一道题：70B 参数，48 个 rank，阶段 3。

# %% [markdown] id="floor" lang="en"
# ## A floor, not the peak
#
# One more question: 70B parameters, 48 ranks, stage 3.

# %% id="predict-stage3" tags=["predict"]
predict("zero3-70b-48")

# %% [markdown] id="floor-why" lang="zh-CN"
# 算出来比 {{ "24 GB" }} 小，是不是 {{ "24 GB" }} 的卡就够了？还不能这么说。这几个式子只数**长期保存**的状态，下面这些一个都没有算：
#
# - **临时收集的参数。** 阶段 3 里，算到某一层就要把这一层的完整参数收集过来，用完再释放；预取（prefetch）还会让下一层提前到场。最大的一层有多大，峰值上就多出多少，N 再大也不缩小。
# - **激活。** 前向留给反向用的中间结果。它随批次和序列长度变，跟 ZeRO 的阶段无关。
# - **通信缓冲、logits、碎片。** 通信桶按元素个数配置，与模型大小无关；词表大时 logits 会突然冒出几个 GB；分配器切出来的空隙也占着显存。
#
# 所以这三个公式回答的是“至少要多少”。峰值一定更高，高多少要另外记账，也要实测。后面的课会一笔一笔地加上去。

# %% [markdown] id="floor-why" lang="en"
# The result is below {{ "24 GB" }}, so will a card of {{ "24 GB" }} do? That does not follow. The formulas count the state that is kept **all the time**, and none of this:
#
# - **Gathered parameters.** At stage 3 the full parameters of a layer are gathered when it is about to compute, and released afterwards; prefetch brings the next one in early. The peak carries the largest layer on top, and no N makes that smaller.
# - **Activations.** What forward leaves behind for backward. They follow batch and sequence length, whatever the stage.
# - **Communication buffers, logits, fragmentation.** Buckets are set in elements and do not care how large the model is; with a large vocabulary the logits appear as several GB at once; the gaps that the allocator leaves occupy memory too.
#
# So the formulas say how much you need *at least*. The peak is higher, by how much is another account, and in the end a measurement. The next lessons add these one by one.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 8 个 rank 的 ZeRO-3 把状态下界除以 8，峰值也正好除以 8 吗？
#
# <details><summary>想好了再展开</summary>
#
# 不会。除以 8 的只有分片保存的那五行。临时收集的一层是完整的，激活由每个 rank 自己的数据决定，通信缓冲是固定大小，还有一些对象根本不分片。应当测量真实峰值，并查出最大的一层有多大，不能只看静态公式。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# ZeRO-3 on 8 ranks divides the floor of the state by 8. Does the peak divide by exactly 8 too?
#
# <details><summary>Think first, then unfold</summary>
#
# No. Only the five sharded rows are divided. A gathered layer is whole, activations depend on each rank's own data, communication buffers have a fixed size, and some objects are never sharded at all. Measure the real peak, and find out how large the largest layer is; the static formula alone cannot tell.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说你的框架用的就是这五行账；请先查它的梯度和主权重是什么类型。
# - 没有说真实的分片恰好是 P/N：FSDP2 按行切并补齐，DeepSpeed 会把小张量整份留下。本课取最满的那个 rank，向上取整。
# - 没有说阶段越高越好：省下的显存要用通信来换。
#
# ## 资料
#
# - Rajbhandari 等，*ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*，arXiv:1910.02054，第 3、5 节与表 1：五行账与三个公式。注意表 1 的 128B 和 1T 两列是截断的，不是四舍五入的。
# - Micikevicius 等，*Mixed Precision Training*，arXiv:1710.03740：为什么要留 FP32 主权重。
# - Megatron-LM 分布式优化器文档：FP32 主梯度时的 18 字节约定。
#
# 资料核对日期：2026-09-10。这里的例子用来教学，不是生产环境的性能数据；框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - That your framework keeps exactly these five rows. Look up the types of its gradients and master copy first.
# - That a real shard is exactly P/N. FSDP2 cuts by rows and pads; DeepSpeed leaves small tensors whole. We take the fullest rank and round up.
# - That a higher stage is better. Memory is paid for in communication.
#
# ## Sources
#
# - Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, arXiv:1910.02054, sections 3 and 5 and Table 1: the five rows and the formulas. Mind that the 128B and 1T columns of the table are truncated, not rounded.
# - Micikevicius et al., *Mixed Precision Training*, arXiv:1710.03740: why there is an FP32 master copy.
# - Megatron-LM, documentation of the distributed optimizer: the 18-byte convention with FP32 main gradients.
#
# Sources checked on 2026-09-10. The examples are for teaching and are no production benchmark; how a framework behaves depends on the version you run.
