"""Weights and tokenizers of the model hub that were not sent, for Transformers.

`from_pretrained` returns the real class with a small random configuration of the architecture
that the repository's name suggests. Widths stay those of the architecture, because scripts put
heads of this width on top; depth and vocabulary are small. The tokenizer is a real one of bytes.
"""

from __future__ import annotations

import importlib
import os
from functools import wraps
from pathlib import Path
from typing import Any

from ..stubs.finding import when_imported
from ..stubs.synthesized import report_synthesized

VOCABULARY, LAYERS, WIDEST = 512, 2, 1024
SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
_SMALL = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), LAYERS),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), LAYERS),
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "d_ff", "hidden_dim"), 256),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 256),
    "attention_types": [[["global", "local"], LAYERS // 2]],
    "vocab_size": VOCABULARY,
    **dict.fromkeys(("pad_token_id",), 0),
    **dict.fromkeys(("bos_token_id", "cls_token_id", "decoder_start_token_id"), 1),
    **dict.fromkeys(("eos_token_id", "sep_token_id"), 2),
}
_NARROW = {"hidden_size": 64, "d_model": 64, "num_attention_heads": 4, "num_key_value_heads": 4}
_DEFAULT = "bert"


def install() -> None:
    """Hook Transformers if it is installed."""
    when_imported("transformers.configuration_utils", _configurations)
    when_imported("transformers.modeling_utils", _models)
    when_imported("transformers.tokenization_utils_base", _tokenizers)
    when_imported("transformers.models.auto.auto_factory", _auto_models)
    when_imported("transformers.models.auto.configuration_auto", _auto_configurations)
    when_imported("transformers.models.auto.tokenization_auto", _auto_tokenizers)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the hub's absence is then said at once


def is_absent(name: Any) -> bool:
    """Return True if a model's name is no folder that was sent."""
    return isinstance(name, str | Path) and not os.path.isdir(name)


def _configurations(module: Any) -> None:
    kind = module.PreTrainedConfig if hasattr(module, "PreTrainedConfig") else None
    _replace(kind or module.PretrainedConfig, lambda cls, name, given: small(cls, name, given))


def _auto_configurations(module: Any) -> None:
    _replace(module.AutoConfig, lambda cls, name, given: small(_kind(name), name, given))


def _models(module: Any) -> None:
    _replace(module.PreTrainedModel, _model)


def _auto_models(module: Any) -> None:
    _replace(module._BaseAutoModelClass, _auto_model)


def _tokenizers(module: Any) -> None:
    _replace(module.PreTrainedTokenizerBase, lambda cls, name, given: tokenizer())


def _auto_tokenizers(module: Any) -> None:
    _replace(module.AutoTokenizer, lambda cls, name, given: tokenizer())


def _replace(kind: Any, make: Any) -> None:
    """Let `kind.from_pretrained` make what it does not find."""
    original = kind.from_pretrained.__func__

    @wraps(original)
    def from_pretrained(cls: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not is_absent(name):
            return original(cls, name, *args, **kwargs)
        report_synthesized(
            str(name), "a small model with random weights, and a tokenizer of bytes,"
        )
        return make(cls, str(name), kwargs)

    kind.from_pretrained = classmethod(from_pretrained)


def _kind(name: str) -> Any:
    """Return the configuration class of the architecture that a repository's name suggests."""
    auto: Any = importlib.import_module("transformers.models.auto.configuration_auto")
    plain = name.lower().replace("-", "").replace("_", "")
    known = sorted(auto.CONFIG_MAPPING_NAMES, key=len, reverse=True)
    found = (kind for kind in known if kind.replace("-", "").replace("_", "") in plain)
    return auto.CONFIG_MAPPING[next(found, _DEFAULT)]


def small(kind: Any, name: str, given: dict[str, Any]) -> Any:
    """Return a configuration with few layers and words; what the caller gives comes last."""
    usual = kind().to_dict()
    chosen = {key: value for key, value in _SMALL.items() if key in usual}
    if max(usual.get("hidden_size") or 0, usual.get("d_model") or 0) > WIDEST:
        chosen |= {key: value for key, value in _NARROW.items() if key in usual}
    said = {
        key: value
        for key, value in given.items()
        if (key in usual or key == "num_labels") and value != "auto"  # as a checkpoint says
    }
    made = kind(**(chosen | said))
    made._name_or_path = name
    return (made, {}) if given.get("return_unused_kwargs") else made


def _model(cls: Any, name: str, given: dict[str, Any]) -> Any:
    config = given.pop("config", None) or small(cls.config_class, name, given)
    return cls(config).eval()  # as the real one does


def _auto_model(cls: Any, name: str, given: dict[str, Any]) -> Any:
    config = given.pop("config", None) or small(_kind(name), name, given)
    return cls.from_config(config).eval()


def tokenizer() -> Any:
    """Return a tokenizer of bytes with the interface of a fast one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    words = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    ids = {word: number for number, word in enumerate(words)}
    inner = Tokenizer(models.BPE(vocab=ids, merges=[], unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    transformers: Any = importlib.import_module("transformers")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=512,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        unk_token="[UNK]",
        bos_token="[CLS]",
        eos_token="[SEP]",
    )
