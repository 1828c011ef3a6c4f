"""The small GPT whose runs were measured (kinds collective_payload, deepspeed_persistent_bytes): its tensors by rule.

"even" is printed in case tt-params-even; the sizes of "uneven" follow from its measured totals (V prime, h = 126).
"""

SIZES = {"even": {"V": 1024, "S": 64, "h": 128, "L": 4, "ffn": 512},
         "uneven": {"V": 1009, "S": 64, "h": 126, "L": 4, "ffn": 506}}


def toy_gpt(model, tied=False):
    """(name, shape) of each tensor of the measured model ``model``, in the order it registers them."""
    size = SIZES[model]
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
