"""Activation formulas as papers print them, to set beside the operation-by-operation account of ``activations``.

Symbols of arXiv:2205.05198: s sequence, b micro-batch, h hidden, a heads, L layers, t tensor-, p pipeline-parallel
degree, v vocabulary. Sizes are elements, results bytes, exact integers where the formula gives one.
"""

from .errors import InvalidInput, ceil_div, check_choice, check_count
from .pipeline_activations import layers_in_flight

# How each variant divides and drops: (bytes per sbh whole, bytes per sbh over t, keeps the 5as/h term)
VARIANTS = {
    "none": (34, 0, True), "selective": (34, 0, False),
    "tp": (10, 24, True), "tp_selective": (10, 24, False),
    "tp_sp": (0, 34, True), "tp_sp_selective": (0, 34, False),
    "full": (2, 0, False), "tp_full": (2, 0, False), "tp_sp_full": (0, 2, False),
}


def _counts(**sizes):
    return [check_count(field, value) for field, value in sizes.items()]


def paper_layer_bytes(s, b, h, a, t=1, variant="none"):
    """Bytes that one layer keeps on a rank, by Table 2: sbh(34 + 5as/h) and its parallel and recomputing forms.

    "none" leaves ``t`` unused; "full" is 2sbh whatever t is, "tp_sp_full" the sequence-parallel input. A division that
    leaves a rest is rounded up. Raises ``InvalidInput``.
    """
    s, b, h, a, t = _counts(s=s, b=b, h=h, a=a, t=t)
    whole, divided, scores = VARIANTS[check_choice("variant", variant, VARIANTS)]
    attention = 5 * a * s * s * b if scores else 0
    if variant == "none":
        return whole * s * b * h + attention
    return whole * s * b * h + ceil_div(divided * s * b * h + attention, t)


def paper_first_stage_bytes(s, b, h, a, num_layers, t=1, p=1, interleave=1, variant="tp"):
    """Bytes on pipeline rank 0: L layers whatever p is, × (1 + (p − 1)/(p·m)) interleaved (sec. 4.2.3, eq. 5).

    Raises ``ConfigError`` when p·m does not divide the layers.
    """
    return paper_layer_bytes(s, b, h, a, t, variant) * layers_in_flight(num_layers, p, interleave)


def attention_factor(s, h, a):
    """5as/h, the part of the layer factor that grows with the sequence: 80 for GPT-3, 64 for MT-NLG (sec. 5)."""
    s, h, a = _counts(s=s, h=h, a=a)
    return 5 * a * s / h


def selective_saving(s, h, a):
    """Share of a layer's activations that selective recompute saves: (5as/h) / (34 + 5as/h), a fraction.

    The paper prints 70 % for GPT-3 (70.18, rounded down) and 65 % for MT-NLG (65.31).
    """
    s, h, a = _counts(s=s, h=h, a=a)
    return 5 * a * s / (34 * h + 5 * a * s)


def activation_ratio(s, h, a, t, variant, over="tp"):
    """One variant's layer bytes over another's, a fraction: Fig. 7 compares with "tp".

    The text says "under 20 %" for selective with sequence parallelism; 530B and 1T come out at 20.2 %.
    """
    # b cancels; t makes the divisions exact
    return paper_layer_bytes(s, t, h, a, t, variant) / paper_layer_bytes(s, t, h, a, t, over)


def extra_terms(h, num_layers, p, v):
    """Embeddings, last norm, output layer and logits per s·b·h·L/t: p/L + [p = 1]·4/L·(1 + v/h) (sec. 4.3).

    The text calls their share for 22B "under 0.01 %"; its own formula gives 0.57 %, a *fraction* of 0.0057. We follow
    the formula.
    """
    h, num_layers, p, v = _counts(h=h, num_layers=num_layers, p=p, v=v)
    edges = 4 * (h + v) / (num_layers * h) if p == 1 else 0.0
    return p / num_layers + edges


def extra_share(s, h, a, num_layers, p, v):
    """``extra_terms`` as a fraction of the layers' own (34 + 5as/h)."""
    return extra_terms(h, num_layers, p, v) / (34 + attention_factor(s, h, a))


def selective_recompute_flops(s, h, convention="printed"):
    """Extra FLOPs of selective recompute, a fraction of the layer's: "printed" s/6h (eq. 9) or "operations" s/18h.

    Appendix A lists 72Bsh² + 12Bs²h a layer and 4Bs²h again; their quotient tends to s/18h, a third of the printed
    eq. 9, which does not follow from its own text. "printed" reproduces the paper's 2.7 % and 1.6 %.
    """
    s, h = _counts(s=s, h=h)
    return s / ({"printed": 6, "operations": 18}[check_choice("convention", convention, ("printed", "operations"))] * h)


def zero_activation_bytes(num_layers, h, batch, seq, elements_per_sbh=12, element_bytes=2):
    """The ZeRO paper's estimate without checkpoints: about 12 · hidden · batch · seq · layers elements (footnote 3).

    That is 24 bytes per s·b·h; 2205.05198 counts 34 + 5as/h, 4.75 times more for GPT-2 1.5B. arXiv:1910.02054.
    """
    num_layers, h, batch, seq = _counts(num_layers=num_layers, h=h, batch=batch, seq=seq)
    per_element, size = _counts(elements_per_sbh=elements_per_sbh, element_bytes=element_bytes)
    return per_element * size * num_layers * h * batch * seq


def checkpoint_bytes(num_layers, h, batch, seq, element_bytes=2, layers_per_checkpoint=1, partitions=1):
    """One layer input for every ``layers_per_checkpoint`` layers, over ``partitions`` ranks (ZeRO-R's P_a).

    arXiv:1910.02054 contradicts itself for 100B at batch 32: sec. 3.2 says about 60 GB, sec. 6.1 says 33. With 125
    layers × 8192 (a shape from memory) 33.5·10⁹ is the number of *elements*; we follow the bytes, 67 GB.
    """
    num_layers, h, batch, seq, size = _counts(num_layers=num_layers, h=h, batch=batch, seq=seq,
                                              element_bytes=element_bytes)
    interval, partitions = _counts(layers_per_checkpoint=layers_per_checkpoint, partitions=partitions)
    return ceil_div(ceil_div(num_layers, interval) * h * batch * seq * size, partitions)


def playbook_activation_bytes(num_layers, h, seq, batch=1, tp=1, sp=False, pp=1):
    """The Ultra-Scale Playbook's charts: sbhL · 34, (10 + 24/t) with tp, 34/t with sequence parallelism.

    Its text has the 5as/h term and calls the growth quadratic; every chart leaves it out and is linear. We follow the
    charts here. Pipeline parallelism (``pp``) changes nothing on the first stage.
    """
    check_count("pp", pp)
    if sp and tp == 1:
        raise InvalidInput("sp", sp, "False without tensor parallelism")
    variant = "tp_sp_selective" if sp else "tp_selective"
    return check_count("num_layers", num_layers) * paper_layer_bytes(seq, batch, h, 1, tp, variant)
