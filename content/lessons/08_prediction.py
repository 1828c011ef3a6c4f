# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: prediction
#   number: 8
#   checked: 2026-09-10
#   title:
#     en: "Build your own prediction, then explain the difference"
#     zh-CN: "自己做一份显存预测，再解释误差"
#   summary:
#     en: "From two configuration files to three budget lines; then allocated, reserved and device of a measured run, and what may honestly be said about the gap."
#     zh-CN: "从两个配置文件到三行预算；再读一次真实训练的已分配、已保留和整卡占用，老老实实解释差在哪里。"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 2023 年 6 月，有人在 8 张 {{ "80 GB" }} 的 A100 上训练一个 13B 模型，阶段 2 和阶段 3 各跑一次，用 DeepSpeed 自己的日志读显存（DeepSpeed#3734）：
#
# | 训练一步之后 | 阶段 2 | 阶段 3 |
# | --- | --- | --- |
# | 已分配 | 45.4646 | 25.3114 |
# | 已分配的峰值 | 52.3739 | 56.1189 |
# | 缓存（已保留） | 57.1406 | 69.2051 |
#
# 日志写的单位是 GB，程序除的是 1024³，所以都是 GiB。他问：阶段 3 的峰值怎么反而更高，多出来的是什么？
#
# 这一课照着他的六个数走一遍：先从配置写出预算，再和读数逐行对账，对不上的部分，说清楚知道什么、不知道什么。

# %% [markdown] id="question" lang="en"
# In June 2023 someone trained a 13B model on eight A100 of {{ "80 GB" }}, once at stage 2 and once at stage 3, and read the memory from DeepSpeed's own log (DeepSpeed#3734):
#
# | after a training step | stage 2 | stage 3 |
# | --- | --- | --- |
# | allocated | 45.4646 | 25.3114 |
# | peak allocated | 52.3739 | 56.1189 |
# | cache (reserved) | 57.1406 | 69.2051 |
#
# The log says GB, the code divides by 1024³, so all six are GiB. The question: why is the peak of stage 3 higher, and what is the extra memory?
#
# This lesson follows those six numbers. We write a budget from the configuration, hold it against the readings line by line, and say of the rest what is known and what is not.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import predict, timeline, use_language

use_language(LANG)

# %% [markdown] id="lasting" lang="zh-CN"
# ## 第一行：常驻状态
#
# 原帖没有说是哪个 13B，我们拿 Llama 2 13B 的参数量来算。先只算公式，看它和表里的读数差多少。

# %% [markdown] id="lasting" lang="en"
# ## First line: persistent state
#
# The report does not say which 13B it was; we take the parameter count of Llama 2 13B. Start with the formula alone and see how far it is from the reading.

# %% id="predict-state" tags=["predict"]
predict("prediction-state-13b")

# %% [markdown] id="lasting-check" lang="zh-CN"
# 阶段 2 的五行账是 {{ ledger(model="llama-2-13b", dp_size=8, stage=2) | GiB 2 }}，读数 {{ "45.46 GiB" }}，差不到 {{ "0.01 GiB" }}。这么准，不像碰巧。那么还有两件没写出来的事也清楚了：读数时梯度还在；主权重和两个矩是 FP32。
#
# 阶段 3 的五行账是 {{ ledger(model="llama-2-13b", dp_size=8, stage=3) | GiB 2 }}，读数却是 {{ "25.31 GiB" }}。差了一个多 GiB。第 2 课的通信桶，5 × 10<sup>8</sup> 个元素，在 DeepSpeed 的阶段 3 里一直在场。下面把它加进去，每行是阶段、状态加桶、读数、剩下的差。把桶改成 0 再运行，看看不数它会差多少。

# %% [markdown] id="lasting-check" lang="en"
# The five rows of stage 2 are {{ ledger(model="llama-2-13b", dp_size=8, stage=2) | GiB 2 }}; the log read {{ "45.46 GiB" }}, less than {{ "0.01 GiB" }} away. An agreement this close is hardly chance, so two things follow that nobody wrote down: the gradients were still there when the log was written, and master weights and moments were FP32.
#
# The five rows of stage 3 are {{ ledger(model="llama-2-13b", dp_size=8, stage=3) | GiB 2 }} and the log read {{ "25.31 GiB" }}. That is more than one GiB apart. The bucket of lesson 2, 5 × 10<sup>8</sup> elements, is permanent in stage 3 of DeepSpeed. The cell adds it and prints stage, state with bucket, reading, and what is left. Set the bucket to 0 to see the gap without it.

# %% id="live-lasting" tags=["live"]
bucket = 500_000_000
for stage, read in ((2, 45.4646), (3, 25.3114)):
    state = ledger(model="llama-2-13b", dp_size=8, stage=stage)
    lasting = state.model_states_bytes_per_rank / GIB
    lasting += (stage == 3) * 2 * bucket / GIB
    print(f"{stage} {lasting:.2f} {read:.2f} {read - lasting:+.2f} GiB")

# %% [markdown] id="read-config" lang="zh-CN"
# ## 从配置文件开始
#
# 真做预测时，手上是两个文件：Hugging Face 的 `config.json` 说模型有多大，DeepSpeed 的 JSON 说怎么训练。程序读这两个文件，然后把三样东西摆出来：参数量，文件里写着 `"auto"` 而没说死的字段，以及它替你假定的值。
#
# **最后这一样最要紧。** 序列长度、要不要重计算，两个文件里都没有，激活却最受它们左右。预测错了，先查假定。
#
# 换成你自己的文件试试。把 `"enabled": true` 改成 `"auto"`：连精度都没说，程序会拒绝猜。

# %% [markdown] id="read-config" lang="en"
# ## Start from the files
#
# A prediction in practice starts with two files. Hugging Face's `config.json` says how large the model is; DeepSpeed's JSON says how it is trained. The package reads both and lays out three things: the parameter count, the fields that say `"auto"` and so leave a value open, and the values assumed in their place.
#
# **The last is the one to read.** Sequence length and recomputation are in neither file, and activations depend on nothing else as much. When a prediction fails, look at what was assumed first.
#
# Put in your own files. Then change `"enabled": true` to `"auto"`: with the precision open, the package refuses to guess.

# %% id="live-config" tags=["live"]
model = model_from_hf_config("""{"model_type": "llama",
  "vocab_size": 32000, "hidden_size": 5120, "intermediate_size": 13824,
  "num_hidden_layers": 40, "num_attention_heads": 40}""")
file = run_config_from_deepspeed("""{"bf16": {"enabled": true},
  "zero_optimization": {"stage": 3}, "gradient_accumulation_steps": 1,
  "train_micro_batch_size_per_gpu": "auto"}""")
found = training_from_run_config(file, model, dp_size=8)
print(format_count(model.num_params), file.unknown)
print(*found.assumed, sep="\n")

# %% [markdown] id="three-lines" lang="zh-CN"
# ## 三行预算
#
# 有了配置，就能写出峰值那一刻的三行，分开写，不混在一起：
#
# - **常驻**：整个步里都在的。状态，加上不随步来去的缓冲；
# - **激活**：随微批次、序列长度和重计算变，包括 logits；
# - **临时**：收集来的权重、没归约完的梯度、工作区。阶段 2 的梯度分片在反向时才攒出来，这里也归入这一行。
#
# 分开写的好处是，每一行有自己的规律和自己的误差。常驻几乎是精确的；激活在没量过的卡上可能差一成；临时取决于框架的调度。三行相加只得到一个数，三行分开才知道该怀疑哪一行。
#
# 下面先猜一猜：把 `recompute="none"` 改成 `"full"`，哪几行变？把 `stage=3` 改成 2 呢？最后一行是峰值的范围，以及放进 {{ "80 GB" }} 的卡有没有把握。

# %% [markdown] id="three-lines" lang="en"
# ## Three lines
#
# With the configuration known, write down the peak as three lines, and keep them apart:
#
# - **lasting**: there for the whole step. State, and buffers that do not come and go;
# - **activations**: follow micro-batch, sequence length and recomputation; logits included;
# - **temporary**: gathered weights, gradients not yet reduced, workspace. At stage 2 the gradient shards build up during backward and count here too.
#
# Each line obeys its own rule and has its own error. The lasting line is nearly exact; activations may be a tenth off on a card nobody measured; temporaries depend on how the framework schedules. Their sum is one number. Kept apart, they tell you which one to doubt.
#
# Guess before you run: which lines change when `recompute="none"` becomes `"full"`? And when `stage=3` becomes 2? The last line gives the range of the peak, and whether a card of {{ "80 GB" }} will do.

# %% id="live-budget" tags=["live"]
plan = budget("llama-2-13b", mesh=8, stage=3, engine="deepspeed",
              micro_batch_size=1, seq_length=2048, recompute="none")
parts, lasting = plan.peak.by_account(), plan.staying_bytes
acts = parts["activations"] + parts["logits"] + parts["inputs"]
for size in (lasting, acts, plan.peak_bytes - lasting - acts):
    print(f"{size / GIB:6.2f} GiB")
low, high = plan.low_bytes / GIB, plan.high_bytes / GIB
print(f"{low:.1f}-{high:.1f} GiB", plan.fits("80 GB").verdict)

# %% [markdown] id="subtract" lang="zh-CN"
# ## 不知道激活，怎么问临时
#
# 回到那份报告。序列长度和批次我们都不知道，激活算不出来。但是有两次运行。批次相同的话，激活在两次里一样大，**相减就消掉了**。

# %% [markdown] id="subtract" lang="en"
# ## Asking about temporaries without knowing the activations
#
# Back to the report. We know neither sequence length nor batch, so activations cannot be computed. But there were two runs. If their batches were equal, so were their activations, and **subtraction removes them**.

# %% id="predict-transients" tags=["predict"]
predict("prediction-transients")

# %% [markdown] id="subtract-why" lang="zh-CN"
# 多出 {{ parse_bytes("56.1189 GiB") - parse_bytes("25.3114 GiB") - parse_bytes("52.3739 GiB") + parse_bytes("45.4646 GiB") | GiB 1 }}。13B 的整份 16 位权重是 {{ 2 * preset("llama-2-13b").num_params | GiB 1 }}，几乎一样大。看上去，峰值那一刻整个模型都收集到场了。
#
# 别急着下结论。这个差有两个方向的偏：阶段 2 的峰值若出在优化器更新时，它的激活就比我们减掉的小，真正的差更大；若出在反向刚开始时，梯度分片还没攒齐，真正的差会小一些，最多小 {{ 2 * preset("llama-2-13b").num_params // 8 | GiB 1 }}。而且，同样大小的东西不止一种。

# %% [markdown] id="subtract-why" lang="en"
# {{ parse_bytes("56.1189 GiB") - parse_bytes("25.3114 GiB") - parse_bytes("52.3739 GiB") + parse_bytes("45.4646 GiB") | GiB 1 }} more. The whole 16-bit weights of a 13B model are {{ 2 * preset("llama-2-13b").num_params | GiB 1 }}, almost the same. It looks as if the entire model had been gathered at the peak.
#
# Not so fast. The difference may be off either way. If stage 2 peaked in the optimizer step, its activations were smaller than what we subtracted, and the true difference is larger. If it peaked as backward began, its gradient shards were not all there yet, and the true difference is smaller, by at most {{ 2 * preset("llama-2-13b").num_params // 8 | GiB 1 }}. And more than one thing has this size.

# %% [markdown] id="explain" lang="zh-CN"
# ## 让程序列出候选
#
# `explain` 拿一次测量和它的配置，给出每个时刻的预测、读数和差，再列出已知会造成这种差的原因，各有多少字节。它不凑数：候选只是候选，差仍旧写在那里。
#
# 下面假定微批次 4、序列长度 2048、整层重计算，激活的量级和阶段 2 的读数相容。先打印时刻、预测、读数和差，再打印候选、它的大小、算上它还剩多少、剩下的是否小到可以算相容。
#
# 换掉假定试试：微批次 1、序列长度 1024、`"none"`。排第一的候选变了。

# %% [markdown] id="explain" lang="en"
# ## Have the candidates listed
#
# `explain` takes a measurement with its configuration. For each instant it gives prediction, reading and difference, then the causes known to produce such a difference, in bytes. It fits nothing: a candidate stays a candidate, and the difference stays on the page.
#
# Here we assume a micro-batch of 4, sequences of 2048 and full recomputation, which gives activations of a size that stage 2 allows. The cell prints instant, prediction, reading, difference; then each candidate, its size, what it would leave, and whether that is small enough to call it consistent.
#
# Now change the assumption: micro-batch 1, sequence length 1024, `"none"`. Another candidate comes first.

# %% id="live-explain" tags=["live"]
config = {"model": "llama-2-13b", "dp": 8, "stage": 3,
          "engine": "deepspeed", "micro_batch_size": 4,
          "seq_length": 2048, "recompute": "full"}
read = {"end_of_backward": "25.3114 GiB", "peak": "56.1189 GiB"}
instants = [{"name": name, "allocated_bytes": parse_bytes(size)}
            for name, size in read.items()]
run = {"format": "zeroledger-run", "version": 1, "config": config,
       "ranks": [{"instants": instants}]}
for told in explain(run).instants:
    sizes = told.predicted_bytes, told.measured_bytes
    print(told.name, *(f"{size / GIB:.2f}" for size in sizes),
          f"{told.difference_bytes / GIB:+.2f} GiB")
    for each in told.candidates[:3]:
        size, left = each.num_bytes / GIB, each.remainder_bytes / GIB
        print(f"  {each.key:16} {size:5.2f} {left:6.2f} {each.is_consistent}")

# %% [markdown] id="explain-why" lang="zh-CN"
# 常驻一行只差 {{ "0.14 GiB" }}。峰值一行差了二十多 GiB，有两个候选说得通：整份权重（`whole-weights`）和整份梯度（`whole-gradients`）。两样都是每参数 2 字节，除去预测里已经算进的部分，只差不到 {{ "1 GiB" }}，单凭一个总数分不开。
#
# 要分开它们，需要新的证据，而每一种都很便宜：
#
# - 换 N 再测。两个候选都不随 N 变，激活也不变，所以这一招只能确认“没分片”，分不出是哪个；
# - 看峰值在什么时候。权重到齐在前向就能看到，梯度到齐要等反向；分别读前向后和反向后的峰值；
# - 把 `stage3_max_live_parameters` 和 `stage3_max_reuse_distance` 设为 0。峰值若大降，就是权重；
# - 录一份显存快照，直接看峰值那一刻的每一块。
#
# 原帖里没有这些，所以这里停在“相容”，不写“原因是”。

# %% [markdown] id="explain-why" lang="en"
# The lasting line is off by {{ "0.14 GiB" }}. The peak is off by more than twenty GiB, and two candidates account for it: the whole weights (`whole-weights`) and whole gradients (`whole-gradients`). Both are 2 bytes a parameter; less what the prediction holds already, they are within {{ "1 GiB" }} of each other, and no single total can tell them apart.
#
# That takes new evidence. Each kind is cheap:
#
# - measure at another N. Neither candidate depends on N, and neither do activations, so this can confirm that something is not sharded but not which;
# - find out when the peak occurs. Whole weights show up in forward already, whole gradients only in backward; read the peak after each;
# - set `stage3_max_live_parameters` and `stage3_max_reuse_distance` to 0. A large drop means weights;
# - record a memory snapshot and look at every block at the peak.
#
# The report has none of these, so we stop at “consistent” and do not write “because”.

# %% [markdown] id="meters" lang="zh-CN"
# ## 三块表
#
# 表里还有一行没用：缓存。显存有三块表，读的是三件事：
#
# | 表 | 怎么读 | 数的是 |
# | --- | --- | --- |
# | 已分配 | `torch.cuda.memory_allocated` | 活着的张量，按 512 字节取整 |
# | 已保留 | `torch.cuda.memory_reserved` | 分配器从卡上要来、还没还的整段 |
# | 整卡 | `nvidia-smi` | 再加 CUDA 上下文、NCCL 和别的进程 |
#
# karpathy/nanoGPT#618 问：已分配 2.47，已保留 16.69，差的十几 GiB 去哪了？OpenTau#273 里，同一个训练用 FSDP 是 43.86 和 70.14，用 ZeRO-2 是 36.22 和 36.45（原文单位 GB）。可见保留多少，没有固定的比例。

# %% [markdown] id="meters" lang="en"
# ## Three meters
#
# One row of the table is still unused: the cache. Device memory has three meters that read three things:
#
# | meter | read with | counts |
# | --- | --- | --- |
# | allocated | `torch.cuda.memory_allocated` | live tensors, in steps of 512 bytes |
# | reserved | `torch.cuda.memory_reserved` | whole segments the allocator took and has not returned |
# | device | `nvidia-smi` | also the CUDA context, NCCL and other processes |
#
# karpathy/nanoGPT#618 asks: allocated 2.47, reserved 16.69, where are the fourteen GiB between? In OpenTau#273 one training run shows 43.86 and 70.14 with FSDP but 36.22 and 36.45 with ZeRO-2 (in GB, as written there). So there is no fixed ratio.

# %% [markdown] id="reserved" lang="zh-CN"
# 下面是 PyTorch 缓存分配器的一个小模型。常驻 {{ "2.5 GiB" }}，一步里来了 14 块各 {{ "1 GiB" }}，又都走了（报告只给了两个读数，块数是我们编的）。第一行是峰值时的已分配和已保留，第二行是走了以后的。
#
# 第二行就是 nanoGPT#618 的样子：张量走了，段还留着，等下一步再用。打印语句在步与步之间，读到的已分配最低，已保留却记着最高的那一刻。加一行 `card.empty_cache()` 再打印：缓存还了，可是下一步又得去要。

# %% [markdown] id="reserved" lang="en"
# The cell holds a small model of PyTorch's caching allocator. {{ "2.5 GiB" }} stay; during a step 14 blocks of {{ "1 GiB" }} come and all of them go (the number of blocks is ours; the report has only the two readings). First line: allocated and reserved at the peak. Second line: after they have gone.
#
# The second line is nanoGPT#618. The tensors left, the segments stayed, ready for the next step. A print between steps reads allocated at its lowest while reserved remembers the highest moment. Add `card.empty_cache()` before the last print: the cache goes back, and the next step has to ask for it again.

# %% id="live-reserved" tags=["live"]
card = CachingAllocator()
card.allocate(5 * GIB // 2)
step = [card.allocate(GIB) for _ in range(14)]
print(card.allocated_bytes / GIB, card.reserved_bytes / GIB)
for block in step:
    card.free(block)
print(card.allocated_bytes / GIB, card.reserved_bytes / GIB)

# %% [markdown] id="fragments" lang="zh-CN"
# 峰值时两个数也可能不等，那是碎片。下面放 10 块，每块 {{ "600 MiB" }}，隔一块放掉一块，再要一块 {{ "1200 MiB" }} 的。空着的一共够用，却没有一处连续，只好再去要一段。每行是已分配、已保留、空着没用的。
#
# 把 `[::2]`（隔一块）改成 `[:5]`（前五块）：同样放掉五块，结果也一样，因为每块自己就是一段，段与段不相连。再把 600 改成 4，1200 改成 8：小块共用 {{ "20 MiB" }} 的段，这时隔着放和连着放就不同了。

# %% [markdown] id="fragments" lang="en"
# Even at the peak the two may differ; that is fragmentation. The cell allocates 10 blocks of {{ "600 MiB" }}, frees every other one, and asks for {{ "1200 MiB" }}. Enough is free in total, but nowhere in one piece, so another segment has to be taken. Each line: allocated, reserved, unused.
#
# Change `[::2]` (every other) to `[:5]` (the first five). The result is the same: each of these blocks is a segment of its own, and segments do not join. Then write 4 for 600 and 8 for 1200: small blocks share segments of {{ "20 MiB" }}, and now it matters which ones go.

# %% id="live-fragments" tags=["live"]
card, block, large = CachingAllocator(), 600 * 2**20, 1200 * 2**20
blocks = [card.allocate(block) for _ in range(10)]
for each in blocks[::2]:
    card.free(each)
for request in (0, large):
    card.allocate(request)
    sizes = card.allocated_bytes, card.reserved_bytes
    print(*(f"{size / 2**20:6.0f}" for size in sizes),
          f"{card.fragmented_bytes / 2**20:6.0f} MiB")

# %% id="predict-device" tags=["predict"]
predict("prediction-device")

# %% [markdown] id="device-why" lang="zh-CN"
# 上下文有多大，取决于卡、驱动和加载了哪些库。{{ "1343 MiB" }} 是 Hugging Face 文档里一张 V100 的读数；新卡常见几百 MiB。先在一个什么都不做的进程里读一次你自己的卡，把它记进预算。
#
# 注意表里的缓存是步后读的，最高值也一样，所以整卡占用至少是它加上下文。判断会不会 OOM，要拿这块表去比卡的容量，而预测出来的是第一块表。中间差的，写成单独一行，别悄悄塞进激活里。

# %% [markdown] id="device-why" lang="en"
# How large the context is depends on card, driver and loaded libraries. {{ "1343 MiB" }} was read on a V100 and is in Hugging Face's documentation; newer cards often show a few hundred MiB. Read yours once from a process that does nothing, and enter it in the budget.
#
# The cache in the table was read after the step and its maximum is the same, so the card held at least that plus the context. Whether a run hits the limit is decided on this meter, while a prediction gives the first. Write what lies between as a line of its own. Do not hide it in the activations.

# %% [markdown] id="watch" lang="zh-CN"
# ## 打印语句看不到的
#
# 下面是两步训练。看第一步和第二步之间的那条缝：张量只有静态状态那么多，和虚线齐平。`print(memory_allocated())` 通常就写在那里，所以它几乎总是打印最低的数。分配器已保留的那条线走得高高的，只升不降。
#
# 把 N 拖大，虚线和峰值的距离怎么变？把阶段换成 2，缝里的数又变成多少？

# %% [markdown] id="watch" lang="en"
# ## What a print does not see
#
# Two training steps. Look at the gap between the first and the second: the tensors there amount to the static state, level with the dashed line. That is where `print(memory_allocated())` usually stands, and so it nearly always prints the lowest number there is. The line of what the allocator reserved runs high above and never comes down.
#
# Drag N up: how does the distance from dashed line to peak change? Switch to stage 2: what does the gap show now?

# %% id="timeline" tags=["timeline"]
timeline(stage=3, dp_size=4, prefetch_depth=1,
         gradient_accumulation_steps=1, num_steps=2)

# %% [markdown] id="static" lang="zh-CN"
# ## 别用静态值否认瞬时峰值
#
# “OOM 前我刚打印过，才用了一半，不可能不够。”这句话常见，推理是错的。下面模拟一次：先跑完，打印步末的数和峰值；再换一张容量是步末读数 1.4 倍的卡。
#
# 最后一行是 OOM 发生的时刻、当时的已分配和卡的容量。步末的数没有变，也没有说谎，它只是另一个时刻。把 1.4 一点点加大，看 OOM 的位置怎么往后挪，到多大才跑得完（跑完时 `out_of_memory` 是 `None`）。

# %% [markdown] id="static" lang="en"
# ## A static number cannot rule out a transient peak
#
# “I printed it right before the OOM and only half was in use, so memory cannot have run out.” One hears this often, and the inference is wrong. The cell runs to the end first and prints the number after a step and the peak; then it takes a card of 1.4 times that first number.
#
# The last line is the instant of the OOM, what was allocated then, and the capacity. The number after the step has not changed and was never false; it belongs to another moment. Raise 1.4 bit by bit: the OOM moves later, and at some size the run completes (`out_of_memory` is then `None`).

# %% id="live-static" tags=["live"]
from zeroledger.simulate import simulate

run = simulate(stage=3, num_steps=1, scale=10**6)
printed, top = sum(run.live_at_end(0).values()), run.peak()
print(f"{printed / GB:.2f} {top.num_bytes / GB:.2f} GB  {top.instant}")
card = int(1.4 * printed)
small = simulate(stage=3, num_steps=1, scale=10**6, device_bytes=card)
end = small.out_of_memory
print(end and (end["instant"], end["live_bytes"] / GB, round(card / GB, 2)))

# %% [markdown] id="measure" lang="zh-CN"
# ## 怎么测才能和预测比
#
# 在你自己的训练里，隔几步做一次（第一步不算，优化器的状态往往那时才建）：
#
# ```python
# torch.cuda.reset_peak_memory_stats()
# train_one_step()
# torch.cuda.synchronize()
# print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
# print(torch.cuda.max_memory_reserved(), torch.cuda.mem_get_info())
# ```
#
# 每个 rank 都读，不只 rank 0：词嵌入所在的流水线段、填充多的分片，都会让某一个更高。记下配置和版本。然后逐行对：步末的已分配对常驻，峰值对三行之和，已保留减已分配是分配器的，整卡减已保留是上下文和库的。最后剩下的，就写“未解释”，连同它的大小。

# %% [markdown] id="measure" lang="en"
# ## Measuring so that it can be compared
#
# In your own training, every few steps (not in the first: optimizers often make their state then):
#
# ```python
# torch.cuda.reset_peak_memory_stats()
# train_one_step()
# torch.cuda.synchronize()
# print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
# print(torch.cuda.max_memory_reserved(), torch.cuda.mem_get_info())
# ```
#
# Read every rank, not rank 0 alone; a pipeline stage with the embedding or a shard with more padding will be higher. Note configuration and versions. Then compare line by line: allocated after the step with the lasting line, the peak with the sum of the three, reserved less allocated is the allocator's, device less reserved is context and libraries. Call the rest “unexplained”, and state its size.

# %% [markdown] id="own-run" tags=["page-only"] lang="zh-CN"
# 这几行有现成的：[“自己的训练”那一页](../measured/)给一个文件 `zeroledger_measure.py`，读完写成 JSON，再在那一页打开，就得到上面这张对照表；显存快照也能打开。页首还有一份在自己机器上跑的笔记本，用真正的 PyTorch 把这一课做一遍。

# %% [markdown] id="own-run" tags=["page-only"] lang="en"
# These lines exist ready-made. [“Your own run”](../measured/) offers one file, `zeroledger_measure.py`, which reads the meters and writes JSON; open that on the same page and you get the comparison above. It opens memory snapshots as well. At the top of this page there is also a notebook that does this lesson with real PyTorch on your own machine.

# %% [markdown] id="levers" lang="zh-CN"
# ## 预算说放不下，动哪一行
#
# 预算的用处在于改。下面对一份放不下的预算逐个试可改的地方，每个都重新算一遍，按峰值少掉的字节排序。先猜排第一的动的是哪一行，再运行。

# %% [markdown] id="levers" lang="en"
# ## It does not fit: which line to change
#
# A budget is there to be changed. The cell takes one that does not fit, tries each change by computing the budget again, and sorts by what the peak loses. Guess which of the three lines the first one works on, then run.

# %% id="live-levers" tags=["live"]
plan = budget("llama-2-13b", mesh=8, stage=3, engine="deepspeed",
              micro_batch_size=4, seq_length=2048)
print(f"{plan.peak_bytes / GIB:.1f} GiB", plan.fits("80 GB").verdict)
for lever in levers(plan)[:6]:
    print(f"{-lever.saved_bytes / GIB:7.1f} GiB  {lever.key}")

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 同事的预测是 {{ "41 GiB" }}，`nvidia-smi` 显示 {{ "58 GiB" }}。他说：“激活算少了 {{ "17 GiB" }}，我乘个系数 1.4 就准了。”你怎么回答？
#
# <details><summary>想好了再展开</summary>
#
# 两块表不能直接减。先问另外两个读数。假如峰值已分配是 {{ "43 GiB" }}，已保留 {{ "57 GiB" }}，那么预测只差 {{ "2 GiB" }}；其余是分配器的缓存和碎片，加上 {{ "1 GiB" }} 上下文，和激活无关。
#
# 乘系数还会害人：下次换了序列长度，激活翻倍，碎片不一定；换了 N，状态变小，系数却连它一起放大。把差写成单独的一行，并写上它是哪块表的。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# A colleague predicts {{ "41 GiB" }} and `nvidia-smi` shows {{ "58 GiB" }}. “My activations are {{ "17 GiB" }} short. I'll multiply by 1.4 and it will be right.” What do you answer?
#
# <details><summary>Think first, then unfold</summary>
#
# You cannot subtract two different meters. Ask for the other two readings. If the peak allocated was {{ "43 GiB" }} and reserved {{ "57 GiB" }}, the prediction is off by {{ "2 GiB" }}; the rest is the allocator's cache and fragmentation, plus one GiB of context. None of it is activations.
#
# The factor will also do harm. With another sequence length activations double and fragmentation may not; with another N the state shrinks and the factor inflates it all the same. Make the gap a line of its own, and say which meter it belongs to.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说 DeepSpeed#3734 的原因是什么。我们只读到帖子的开头和读数，没有看到它的完整配置；模型、批次和重计算都是假定。
# - 没有保证 DeepSpeed 的峰值。状态和桶按 0.19 的规则算，峰值没有工具逐字节核对过；那份报告是 2023 年的版本。就拿阶段 2 来说，规则预测优化器更新时有 {{ budget("llama-2-13b", mesh=8, stage=2, engine="deepspeed", recompute="full").peak_bytes | GiB 1 }}，比读到的峰值还高，这个差我们也没有解释。
# - 没有模拟可扩展段（`expandable_segments`）、多个流、CUDA Graph 的私有池，它们会改变已保留。
# - 没有给碎片一个公式。没有人有。
#
# ## 资料
#
# - deepspeedai/DeepSpeed#3734（2023-06）：13B、8 卡、两个阶段的六个读数。
# - karpathy/nanoGPT#618（2025-06）、TensorAuto/OpenTau#273（2026）：已分配和已保留的差距。
# - huggingface/transformers 文档 model_memory_anatomy：只有上下文时的 {{ "1343 MiB" }}（V100）。
# - PyTorch 的 CUDACachingAllocator（2.13、2.14）：取整和分段的规则。
# - DeepSpeed 0.19 的配置默认值。
#
# 资料核对日期：2026-09-10。框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - What caused DeepSpeed#3734. We read the opening post with its readings and not its full configuration; model, batch and recomputation are assumptions.
# - That our peak for DeepSpeed is right. States and buckets follow the rules of 0.19, and no tool has checked the peak byte by byte; the report is of a version of 2023. At stage 2, for one, the rules predict {{ budget("llama-2-13b", mesh=8, stage=2, engine="deepspeed", recompute="full").peak_bytes | GiB 1 }} in the optimizer step, above the peak that was read, and that gap is unexplained as well.
# - How expandable segments, several streams or the private pools of CUDA graphs change what is reserved. They do.
# - A formula for fragmentation. Nobody has one.
#
# ## Sources
#
# - deepspeedai/DeepSpeed#3734 (June 2023): the six readings, 13B, 8 cards, two stages.
# - karpathy/nanoGPT#618 (June 2025), TensorAuto/OpenTau#273 (2026): allocated and reserved apart.
# - The documentation of huggingface/transformers, model_memory_anatomy: {{ "1343 MiB" }} for a context alone on a V100.
# - PyTorch's CUDACachingAllocator (2.13, 2.14): rounding and segments.
# - The defaults of DeepSpeed 0.19.
#
# Sources checked on 2026-09-10. How a framework behaves depends on the version you run.
