"""The small GPT whose runs were measured (kinds collective_payload, deepspeed_persistent_bytes): its tensors by rule.

"even" is printed in case tt-params-even; the sizes of "uneven" follow from its measured totals (V prime, h = 126).
"""

SIZES = {"even": {"V": 1024, "S": 64, "h": 128, "L": 4, "ffn": 512},
         "uneven": {"V": 1009, "S": 64, "h": 126, "L": 4, "ffn": 506}}


def toy_gpt(model, tied=False):
    """(name, shape) of each tensor of the measured model ``model``, in the order it registers them."""
    return toy_tensors(SIZES[model], tied)


def toy_tensors(size, tied=False):
    """The same layout for any ``size`` {"V", "S", "h", "L", "ffn"}."""
    h, ffn = size["h"], size["ffn"]
    tensors = [("tok.weight", (size["V"], h)), ("pos.weight", (size["S"], h))]
    for layer in range(size["L"]):
        for name, shape in (("ln1.weight", (h,)), ("ln1.bias", (h,)), ("ln2.weight", (h,)), ("ln2.bias", (h,)),
                            ("qkv.weight", (3 * h, h)), ("qkv.bias", (3 * h,)), ("proj.weight", (h, h)),
                            ("proj.bias", (h,)), ("fc1.weight", (ffn, h)), ("fc1.bias", (ffn,)),
                            ("fc2.weight", (h, ffn)), ("fc2.bias", (h,))):
            tensors.append((f"blocks.{layer}.{name}", shape))
    tensors += [("lnf.weight", (h,)), ("lnf.bias", (h,))]
    return tensors if tied else tensors + [("head.weight", (size["V"], h))]


def llama_tensors(size, tied=False):
    """(name, shape) of a Llama-like model of ``size``, nested and registered as Hugging Face does."""
    h, ffn = size["h"], size["ffn"]
    tensors = [("model.embed_tokens.weight", (size["V"], h))]
    for layer in range(size["L"]):
        at = f"model.layers.{layer}."
        tensors += [(f"{at}self_attn.{name}_proj.weight", (h, h)) for name in "qkvo"]
        tensors += [(f"{at}mlp.{name}_proj.weight", shape) for name, shape in
                    (("gate", (ffn, h)), ("up", (ffn, h)), ("down", (h, ffn)))]
        tensors += [(f"{at}{name}.weight", (h,)) for name in ("input_layernorm", "post_attention_layernorm")]
    tensors.append(("model.norm.weight", (h,)))
    return tensors if tied else tensors + [("lm_head.weight", (size["V"], h))]
