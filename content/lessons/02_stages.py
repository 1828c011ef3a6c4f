# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# zero:
#   slug: stages
#   number: 2
#   checked: 2026-09-10
#   title:
#     en: "Three formulas, and a stage 2 that needs more than stage 1"
#     zh-CN: "三个公式，和一个比阶段 1 还费显存的阶段 2"
#   summary:
#     en: "Why each row of the ledger can be divided, the three formulas step by step, and the constant they leave out: on a small model it decides."
#     zh-CN: "五行账为什么能分、怎么一步步分成三个公式；还有公式没数的那个常数：模型一小，它说了算。"
#   values:
#     bert_saved: "ledger(340e6, 4, 1).model_states_bytes_per_rank - ledger(340e6, 4, 2).model_states_bytes_per_rank"
#     bloom: "TransformerShape(hidden_size=1536, num_layers=24, num_attention_heads=16, vocab_size=250880, gated_mlp=False, norm='layernorm', tie_word_embeddings=True)"
#     bloom_stage2: "rule_ledger(bloom, 2, 2, rule='deepspeed').model_states_bytes_per_rank + deepspeed_instants(bloom, 2, 2)[1].num_bytes"
#     bloom_stage3: "rule_ledger(bloom, 2, 3, rule='deepspeed').model_states_bytes_per_rank + deepspeed_instants(bloom, 2, 3)[1].num_bytes"
#     lean: "DeepSpeedBuffers(50_000_000, limits=FetchLimits(0, 0, 0))"
#     lean_stage2: "rule_ledger(bloom, 2, 2, rule='deepspeed').model_states_bytes_per_rank + deepspeed_instants(bloom, 2, 2, buffers=lean)[1].num_bytes"
#     lean_stage3: "rule_ledger(bloom, 2, 3, rule='deepspeed').model_states_bytes_per_rank + deepspeed_instants(bloom, 2, 3, buffers=lean)[1].num_bytes"
# ---

# %% [markdown] id="question" lang="zh-CN"
# 2021 年 8 月，有人用 4 张卡训练 BERT-large，约 {{ 340e6 | short }} 参数。他只改了配置里的一个数字：ZeRO 阶段从 1 换成 2。每张卡的显存从 {{ "8900 MB" }} 涨到了 {{ "9600 MB" }}（DeepSpeedExamples#123）。
#
# 2023 年，又有人在两张 TITAN RTX 上训练 BLOOM-1.1B，三个阶段各测一次（BELLE#402）：
#
# | 阶段 | 一张卡 | 另一张卡 |
# | --- | --- | --- |
# | 1 | {{ "20.7 GB" }} | {{ "19.4 GB" }} |
# | 2 | {{ "21.5 GB" }} | {{ "19.2 GB" }} |
# | 3 | {{ "21.7 GB" }} | {{ "21.7 GB" }} |
#
# 第 1 课的公式说，阶段越高，每个 rank 存得越少。两份报告都相反。公式没错，读数也没错，错的是以为公式数了全部。这一课先把三个公式推出来，再去找它们没数的那一笔。

# %% [markdown] id="question" lang="en"
# In August 2021 someone trained BERT-large, about {{ 340e6 | short }} parameters, on four cards, and changed one number in the configuration: ZeRO stage 1 became stage 2. Each card went from {{ "8900 MB" }} up to {{ "9600 MB" }} (DeepSpeedExamples#123).
#
# In 2023 someone else trained BLOOM-1.1B on two TITAN RTX and tried all three stages (BELLE#402):
#
# | stage | one card | the other |
# | --- | --- | --- |
# | 1 | {{ "20.7 GB" }} | {{ "19.4 GB" }} |
# | 2 | {{ "21.5 GB" }} | {{ "19.2 GB" }} |
# | 3 | {{ "21.7 GB" }} | {{ "21.7 GB" }} |
#
# By the formulas of lesson 1, a higher stage keeps less on every rank. Both reports say the opposite. The formulas are right and so are the readings; they simply do not measure the same thing. We derive the formulas first, and then go looking for what they leave out.

# %% id="setup" tags=["setup"]
from zeroledger import *
from lessonkit import explore, predict, use_language

use_language(LANG)

# %% [markdown] id="guess-saving" lang="zh-CN"
# ## 先猜：阶段 2 该省多少
#
# 先不管读数，只用公式。从阶段 1 到阶段 2，只有一行账变了。

# %% [markdown] id="guess-saving" lang="en"
# ## Guess first: what should stage 2 save?
#
# Forget the readings for a moment and use the formulas alone. Between stage 1 and stage 2 a single row changes.

# %% id="predict-saving" tags=["predict"]
predict("stages-grad-saving")

# %% [markdown] id="who-needs" lang="zh-CN"
# ## 谁需要整份，什么时候
#
# 一行账能不能分，要看它的每个元素由谁用、何时用。从普通数据并行出发，N 个 rank 各存 16P 字节，一行一行地问。
#
# **优化器的三行。** Adam 逐元素更新：第 i 个参数怎么动，只看第 i 个梯度、第 i 对矩、第 i 个主权重。那么每个 rank 只更新自己的 1/N 就够了，更新完用一次 `all_gather` 把新参数发给大家。结果和每个 rank 全算一遍完全相同，只是少算了 N − 1 遍。这就是阶段 1。
#
# **梯度。** 每个 rank 用自己的数据算出一份梯度，N 份相加才是要用的梯度。相加之后，第 i 个和只有一个人要：负责更新第 i 个参数的 rank。所以不必让每个人都拿到全部的和（`all_reduce`），只把各自那段发给它（`reduce_scatter`），其余的用完就扔。这就是阶段 2。
#
# **参数。** 这一行最难分：前向和反向都要用，而且每层都要整份。好在同一时刻只算一层。平时各存 1/N，算到哪一层就收集哪一层，用完释放。这就是阶段 3，下一课专门讲它。

# %% [markdown] id="who-needs" lang="en"
# ## Who needs all of it, and when
#
# Whether a row can be divided depends on who reads each element, and when. Start from plain data parallelism, 16P bytes on each of N ranks, and ask row by row.
#
# **The optimizer's three rows.** Adam works element by element: how parameter i moves depends on gradient i, the two moments i and master weight i, on nothing else. So it is enough that each rank updates its own 1/N and an `all_gather` then hands the new parameters to everybody. The result is exactly what N ranks would have computed N times over. That is stage 1.
#
# **Gradients.** Each rank computes gradients from its own data, and their sum is what training uses. Once summed, element i is wanted by one rank only, the one that updates parameter i. There is no need to give every rank the whole sum (`all_reduce`); each gets its own part (`reduce_scatter`) and the rest can be thrown away. That is stage 2.
#
# **Parameters.** The hardest row: forward and backward both read it, and each layer needs its weights whole. But only one layer computes at a time. Keep 1/N, gather a layer when its turn comes, release it afterwards. That is stage 3, and the next lesson is about nothing else.

# %% [markdown] id="derive" lang="zh-CN"
# ## 推一遍
#
# 把五行账写开，被分摊的除以 N：
#
# | 阶段 | 参数 | 梯度 | 主权重 + 两个矩 | 合计 |
# | --- | --- | --- | --- | --- |
# | 0 | 2P | 2P | 4P + 4P + 4P | 16P |
# | 1 | 2P | 2P | (4P + 4P + 4P)/N | 4P + 12P/N |
# | 2 | 2P | 2P/N | (4P + 4P + 4P)/N | 2P + 14P/N |
# | 3 | 2P/N | 2P/N | (4P + 4P + 4P)/N | 16P/N |
#
# 让 N 越来越大，带 N 的项趋于零，剩下的就是每个阶段的地板：阶段 1 是 4P，阶段 2 是 2P，阶段 3 没有地板。对 7B 来说，前两个地板是 {{ 4 * 7e9 | GB 0 }} 和 {{ 2 * 7e9 | GB 0 }}，再加卡也降不下去。
#
# 下面的代码把表里的四个合计写成四个式子，逐个和程序核对。改 `P`、`N`；再故意改错一个系数，看断言在哪个阶段拦住你。

# %% [markdown] id="derive" lang="en"
# ## The derivation
#
# Write the five rows out and divide the shared ones by N:
#
# | stage | parameters | gradients | master weights + two moments | sum |
# | --- | --- | --- | --- | --- |
# | 0 | 2P | 2P | 4P + 4P + 4P | 16P |
# | 1 | 2P | 2P | (4P + 4P + 4P)/N | 4P + 12P/N |
# | 2 | 2P | 2P/N | (4P + 4P + 4P)/N | 2P + 14P/N |
# | 3 | 2P/N | 2P/N | (4P + 4P + 4P)/N | 16P/N |
#
# Let N grow and every term with N in it fades. What is left is the floor of the stage: 4P for stage 1, 2P for stage 2, nothing for stage 3. For 7B the first two are {{ 4 * 7e9 | GB 0 }} and {{ 2 * 7e9 | GB 0 }}, and no number of cards gets below them.
#
# The cell writes the four sums as four expressions and checks each against the package. Change `P` and `N`; then spoil one coefficient on purpose and see at which stage the assertion stops you.

# %% id="live-formulas" tags=["live"]
P, N = 7_000_000_000, 8
by_hand = [16 * P, 4 * P + 12 * P // N, 2 * P + 14 * P // N, 16 * P // N]
for stage, expected in enumerate(by_hand):
    assert ledger(P, N, stage).model_states_bytes_per_rank == expected, stage
    print(f"{stage} {expected / GB:7.2f} GB {expected / GIB:7.2f} GiB")

# %% [markdown] id="guess-max" lang="zh-CN"
# ## 倒过来问
#
# 公式也能倒着用：卡的容量给定，状态最多允许多少参数？注意阶段 2 的两项各自缩得有多快。

# %% [markdown] id="guess-max" lang="en"
# ## The other way round
#
# A formula can be read backwards: given the card, how many parameters does the state allow? Mind how differently the two terms of stage 2 shrink.

# %% id="predict-max" tags=["predict"]
predict("stages-max-params")

# %% [markdown] id="explore-intro" lang="zh-CN"
# 在图上看同一件事。先定在阶段 2，把 N 从 1 拖到 1024：哪一行不动？再切到阶段 1，数一数有几行不动。最后选 GPT-2 XL，N = 2：阶段 2 比阶段 1 只少了一点点，这“一点点”马上就要派上用场。

# %% [markdown] id="explore-intro" lang="en"
# See it in the chart. Stay at stage 2 and drag N from 1 to 1024: which row does not move? Switch to stage 1 and count the rows that stand still. Then choose GPT-2 XL with N = 2: stage 2 is lower than stage 1 by only a little, and how little is what the rest of this lesson turns on.

# %% id="explore" tags=["explore"]
explore(dp_size=64, stage=2)

# %% [markdown] id="constant" lang="zh-CN"
# ## 公式没数的常数：通信桶
#
# 一个张量算出梯度就通信一次，太碎。框架会先攒一桶，再一起归约。DeepSpeed 的桶叫 `reduce_bucket_size`，默认 `5e8`。打开 `contiguous_gradients`（默认如此）后，它在反向刚开始时就一次分配好，那正是激活最多的时刻。

# %% [markdown] id="constant" lang="en"
# ## The constant they leave out: the bucket
#
# Reducing each tensor's gradient as soon as it is ready would mean thousands of small messages, so frameworks fill a bucket first and reduce that. In DeepSpeed its size is `reduce_bucket_size`, `5e8` by default. With `contiguous_gradients`, also the default, it is allocated in one piece when backward begins, exactly when activations are at their fullest.

# %% id="predict-bucket" tags=["predict"]
predict("stages-bucket-bytes")

# %% [markdown] id="bucket-why" lang="zh-CN"
# 桶按**元素个数**配置，与模型大小无关，也不除以 N。现在把两笔放在一起，账就清楚了：
#
# - BERT-large，N = 4，阶段 2 省下 {{ bert_saved | GB 2 }}；
# - 反向开始时多出一个桶，{{ 2 * 5e8 | GB 2 }}；
# - 净增 {{ 2 * 5e8 - bert_saved | GB 2 }}，方向和量级都对得上报告里多出的 {{ "700 MB" }}。那份报告的配置里正好写着 `"reduce_bucket_size": 5e8` 和 `"contiguous_gradients": true`。
#
# 为什么阶段 1 没有这个桶？因为当时的 DeepSpeed 在阶段 1 不用反向钩子，等反向结束、激活都释放了才归约，`contiguous_gradients` 在这里被忽略（PR#1246，2021 年 7 月）。2024 年 1 月的 PR#4887 取消了这个限制：从那以后，阶段 1 也在反向开始时分配桶，两个阶段各有一个，差别又只剩省下的那行梯度。同一个问题，换个版本，答案就变了。

# %% [markdown] id="bucket-why" lang="en"
# The bucket is set in **elements**. It ignores the size of the model and it is not divided by N. Now put the two amounts side by side:
#
# - BERT-large, N = 4: stage 2 saves {{ bert_saved | GB 2 }};
# - when backward begins, a bucket of {{ 2 * 5e8 | GB 2 }} appears;
# - the net change is +{{ 2 * 5e8 - bert_saved | GB 2 }}, which has the sign and roughly the size of the reported {{ "700 MB" }}. The configuration in that report does say `"reduce_bucket_size": 5e8` and `"contiguous_gradients": true`.
#
# Why did stage 1 have no bucket? Because DeepSpeed at that time had no backward hooks in stage 1: it reduced after backward, when the activations were gone, and ignored `contiguous_gradients` (PR#1246, July 2021). PR#4887 of January 2024 lifted that: since then stage 1 allocates its bucket at the start of backward too, both stages have one, and the only difference left is the gradient row. One question, two versions, two answers.

# %% id="predict-break-even" tags=["predict"]
predict("stages-break-even")

# %% [markdown] id="break-even" lang="zh-CN"
# 用代码扫一遍 N。第二列是阶段 2 开始划算的参数量，第三列是 BERT-large 在这个 N 下的得失，以 MB 计，负数是多占。试着把桶改成 `50_000_000`：临界点降到原来的十分之一，BERT-large 立刻变成净省。

# %% [markdown] id="break-even" lang="en"
# Sweep over N. The second column is the parameter count from which stage 2 pays, the third the gain of BERT-large at that N in megabytes (negative: it needs more). Set the bucket to `50_000_000`: the break-even point drops to a tenth and BERT-large gains at once.

# %% id="live-break-even" tags=["live"]
P, bucket = 340_000_000, 500_000_000
for N in (2, 4, 8, 64):
    one, two = (ledger(P, N, stage)["grads"].bytes_per_rank for stage in (1, 2))
    gain = (one - two - 2 * bucket) // 10**6
    print(f"{N:3} {format_count(bucket * N // (N - 1), 0):>5} {gain:5} MB")

# %% [markdown] id="bloom" lang="zh-CN"
# ## BLOOM 为什么阶段 3 最大
#
# N = 2 时临界点是 {{ 5e8 * 2 / (2 - 1) | short }}，BLOOM-1.1B 正好骑在上面：阶段 1 和 2 打平，报告里两张卡的平均值也只差 {{ (21.5 + 19.2 - 20.7 - 19.4) / 2 | num 1 }} GB。
#
# 阶段 3 还要加一笔：收集来的参数。DeepSpeed 的 `stage3_max_live_parameters` 和 `stage3_max_reuse_distance` 默认都是 10<sup>9</sup> 个元素，BLOOM-1.1B 总共才这么多，于是整个模型收集进来就不走了。下面按张量把它算出来：先是这个阶段的状态，再是反向时的临时部分。

# %% [markdown] id="bloom" lang="en"
# ## Why stage 3 was the largest for BLOOM
#
# At N = 2 the break-even point is {{ 5e8 * 2 / (2 - 1) | short }}, and BLOOM-1.1B sits right on it: stages 1 and 2 tie, and the averages of the two reported cards differ by only {{ (21.5 + 19.2 - 20.7 - 19.4) / 2 | num 1 }} GB.
#
# Stage 3 adds gathered parameters. DeepSpeed's `stage3_max_live_parameters` and `stage3_max_reuse_distance` both default to 10<sup>9</sup> elements. BLOOM-1.1B has hardly more than that, so once gathered the whole model stays. The cell works it out tensor by tensor: the state of the stage, then what comes on top in backward.

# %% id="live-bloom" tags=["live"]
bloom = TransformerShape(hidden_size=1536, num_layers=24,
                         num_attention_heads=16, vocab_size=250_880,
                         gated_mlp=False, norm="layernorm", tie_word_embeddings=True)
for stage in (2, 3):
    shards = rule_ledger(bloom, 2, stage, rule="deepspeed")
    state = shards.model_states_bytes_per_rank
    extra = deepspeed_instants(bloom, 2, stage)[1].num_bytes
    print(f"{stage} {state / GB:6.2f} + {extra / GB:.2f} = {(state + extra) / GB:5.2f} GB")

# %% [markdown] id="bloom-read" lang="zh-CN"
# 阶段 3 的状态少了约 1/10，临时部分却是原来的三倍半。按这本账，阶段 3 比阶段 2 多 {{ bloom_stage3 - bloom_stage2 | GB 1 }}；报告里两张卡的平均值多 {{ (21.7 + 21.7 - 21.5 - 19.2) / 2 | num 2 }} GB。对得这么齐有运气成分：帖子没有给出 DeepSpeed 配置，也没说 GB 是哪一种。而且能比的只是差：账上阶段 3 合计才 {{ rule_ledger(TransformerShape(hidden_size=1536, num_layers=24, num_attention_heads=16, vocab_size=250880, gated_mlp=False, norm="layernorm", tie_word_embeddings=True), 2, 3, rule="deepspeed").model_states_bytes_per_rank + deepspeed_instants(TransformerShape(hidden_size=1536, num_layers=24, num_attention_heads=16, vocab_size=250880, gated_mlp=False, norm="layernorm", tie_word_embeddings=True), 2, 3)[1].num_bytes | GB 0 }}，读数是 {{ "21.7 GB" }}，中间那一大截是激活、logits、CUDA 上下文和分配器留着没用的显存。帖子末尾有人说，他把缓存调小以后，阶段 3 成了最省的。
#
# 改一改：给 `deepspeed_instants` 加上 `buffers=DeepSpeedBuffers(50_000_000, limits=FetchLimits(0, 0, 0))`，桶缩到十分之一，收集来的参数用完就放。差距只剩 {{ lean_stage3 - lean_stage2 | GB 2 }}。剩下的这点来自词嵌入：BLOOM 的词表有 {{ 250880 | count }} 行，单这一个张量收集起来就是 {{ 2 * 250880 * 1536 | GB 2 }}。再把 N 从 2 改成 8，阶段 3 才真正变小。

# %% [markdown] id="bloom-read" lang="en"
# Stage 3 keeps about a tenth less of state, and its transients are three and a half times as large. By this account it needs {{ bloom_stage3 - bloom_stage2 | GB 1 }} more than stage 2; the averages in the report differ by {{ (21.7 + 21.7 - 21.5 - 19.2) / 2 | num 2 }} GB. That they agree so well is partly luck: the thread shows no DeepSpeed configuration and does not say which GB it means. And it is only the difference that can be compared. The account has {{ rule_ledger(TransformerShape(hidden_size=1536, num_layers=24, num_attention_heads=16, vocab_size=250880, gated_mlp=False, norm="layernorm", tie_word_embeddings=True), 2, 3, rule="deepspeed").model_states_bytes_per_rank + deepspeed_instants(TransformerShape(hidden_size=1536, num_layers=24, num_attention_heads=16, vocab_size=250880, gated_mlp=False, norm="layernorm", tie_word_embeddings=True), 2, 3)[1].num_bytes | GB 0 }} for stage 3 and the cards showed {{ "21.7 GB" }}; in between lie activations, logits, the CUDA context and memory that the allocator holds unused. At the end of the thread someone writes that with smaller buffers stage 3 came out lowest.
#
# Change it: pass `buffers=DeepSpeedBuffers(50_000_000, limits=FetchLimits(0, 0, 0))` to `deepspeed_instants`. The bucket is a tenth as large and weights are released after use; {{ lean_stage3 - lean_stage2 | GB 2 }} of the difference is left. That remainder is the embedding: BLOOM has a vocabulary of {{ 250880 | count }} rows, and this one tensor, gathered, takes {{ 2 * 250880 * 1536 | GB 2 }}. Now change N from 2 to 8 as well, and stage 3 does come out smaller.

# %% [markdown] id="not-exact" lang="zh-CN"
# ## 分片也不是正好 P/N
#
# 公式里的 P/N 是理想值，框架各有各的切法。FSDP2 把每个张量按第一维切成 N 份，切不齐就补；DeepSpeed 阶段 3 把每个张量摊平再切，不超过 10 万个元素的小张量干脆每个 rank 留一份。看 GPT-2 XL 在 48 个 rank 上差多少，再换成 8 或 64 试试。

# %% [markdown] id="not-exact" lang="en"
# ## Nor is a shard exactly P/N
#
# P/N is the ideal, and frameworks cut in their own ways. FSDP2 cuts each tensor along its first dimension into N pieces and pads what does not divide; DeepSpeed's stage 3 flattens each tensor first, and leaves small ones of up to 100,000 elements whole on every rank. See what that costs GPT-2 XL on 48 ranks, then try 8 and 64.

# %% id="live-rules" tags=["live"]
N = 48
ideal = 16 * preset("gpt2-xl").num_params / N
for rule in ("ideal", "fsdp2", "deepspeed"):
    shards = rule_ledger("gpt2-xl", N, stage=3, rule=rule)
    size = shards.model_states_bytes_per_rank
    print(f"{rule:>9} {size:>13,} B {size / ideal - 1:+.2%}")

# %% [markdown] id="floor" lang="zh-CN"
# ## 下界的用处
#
# 三个公式给的是长期状态的下界。它最有用的一面是否定：下界都放不下，就不用试了。反过来不成立，放得下不等于跑得起来。模型大、N 大时，状态占大头，下界就接近真相；模型小、N 小时，桶、收集来的参数、激活这些与 N 无关的东西才是大头，这时先调小缓冲，比换阶段管用。

# %% [markdown] id="floor" lang="en"
# ## What a lower bound is good for
#
# The three formulas bound the lasting state from below. Their strength is to say no: where the bound does not fit, there is nothing to try. The converse fails; fitting the bound does not mean that the run fits. With a large model and many ranks the state dominates and the bound comes close. With a small model and few ranks, buckets, gathered parameters and activations dominate, none of which N divides, and shrinking the buffers helps more than changing the stage.

# %% [markdown] id="self-test" lang="zh-CN"
# ## 自测
#
# 你的模型有 2.8B 参数，4 张 A10G。阶段 1 能跑，换成阶段 2 却在反向刚开始时 OOM（DeepSpeedExamples#336）。2.8B 远超临界点，状态明明少了。为什么？
#
# <details><summary>想好了再展开</summary>
#
# 省下的和多占的不在同一时刻。桶在反向开始时分配，那时激活最满，而阶段 1（当时的版本）一个梯度还没有，整行梯度是随着反向逐层出现的，同时激活逐层释放。峰值如果由激活决定，多一个桶就足以越线，省下的梯度在那一刻还用不上。维护者在帖子里也这样解释：反向开始时分配缓冲，激活占大头、又没有做激活重计算时，峰值就会升高。
#
# </details>

# %% [markdown] id="self-test" lang="en"
# ## Test yourself
#
# 2.8B parameters, four A10G. Stage 1 trains; stage 2 runs out of memory as backward begins (DeepSpeedExamples#336). 2.8B is far above the break-even point, and the state did shrink. Why?
#
# <details><summary>Think first, then unfold</summary>
#
# What is saved and what is added do not meet at the same moment. The bucket is allocated when backward begins and activations are at their fullest. At that moment stage 1, in the version of that time, has no gradients yet: the row fills layer by layer while activations are released layer by layer. If activations set the peak, one bucket is enough to cross the line, and the smaller gradient row is of no use then. The maintainer's answer in the thread says the same: the buffer is allocated as backward begins, and raises the peak when activations dominate, for example without recomputation.
#
# </details>

# %% [markdown] id="limits" lang="zh-CN"
# ## 这一课没有说的
#
# - 没有说那两份报告里的每一个 MB 来自哪里。BELLE 那份没有附配置；两份都没说怎么测的，多半是 `nvidia-smi`，里面还有激活、logits、CUDA 上下文和分配器的空隙。
# - 没有说桶越小越好。桶太小，通信就碎，第 7 课再算这笔时间账。
# - 没有说更新那一刻。DeepSpeed 更新前会把本 rank 的梯度并成一块，再抄一份 FP32，每个元素 6 字节，P/N 个；`deepspeed_instants(…)[2]` 就是那一刻。
# - 没有说阶段 1、2 多了多少通信。ZeRO 论文说阶段 1、2 与普通数据并行相同，DeepSpeed 的默认实现并不完全如此，也留到第 7 课。
#
# ## 资料
#
# - Rajbhandari 等，*ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*，arXiv:1910.02054，第 5 节：三个阶段和三个公式。
# - deepspeedai/DeepSpeedExamples#123（2021-08）、#336（2023-04），deepspeedai/DeepSpeed#1302：维护者的解释，小模型、默认的大缓冲、N 又小。
# - LianjiaTech/BELLE#402（2023-05）：BLOOM 560M 与 1.1B 的读数。
# - deepspeedai/DeepSpeed PR#1246（2021-07）与 PR#4887（2024-01）：阶段 1 的通信桶何时没有、何时又有。
# - 分片和通信桶的大小由本站的程序按 PyTorch 2.13.0 与 DeepSpeed 0.19.8 的行为算出。
#
# 资料核对日期：2026-09-10。对报告的解释是我们的推断；框架行为以你所用的版本为准。

# %% [markdown] id="limits" lang="en"
# ## What this lesson does not say
#
# - Where each megabyte of the two reports comes from. The BELLE thread shows no configuration, and neither says how it measured; probably with `nvidia-smi`, which has activations, logits, the CUDA context and the allocator's gaps in it too.
# - That a smaller bucket is always better. Very small ones break communication into pieces; lesson 7 counts that in time.
# - What happens at the update. DeepSpeed first joins the rank's gradients into one block and copies that to FP32, 6 bytes for each of P/N elements; `deepspeed_instants(…)[2]` is that instant.
# - How much communication stages 1 and 2 add. None, by the ZeRO paper; DeepSpeed's default does not quite follow it. Lesson 7 again.
#
# ## Sources
#
# - Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, arXiv:1910.02054, section 5: the three stages and the three formulas.
# - deepspeedai/DeepSpeedExamples#123 (August 2021) and #336 (April 2023), deepspeedai/DeepSpeed#1302: the maintainers' explanation, a small model, large default buffers and few ranks.
# - LianjiaTech/BELLE#402 (May 2023): readings for BLOOM 560M and 1.1B.
# - deepspeedai/DeepSpeed PR#1246 (July 2021) and PR#4887 (January 2024): when stage 1 lost its bucket, and when it got one again.
# - Shards and buckets are computed by this site's package as PyTorch 2.13.0 and DeepSpeed 0.19.8 behave.
#
# Sources checked on 2026-09-10. How the reports are explained is our inference; how a framework behaves depends on the version you run.
