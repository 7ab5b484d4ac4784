"""Transformers: a tokenizer that hashes words, and a small model behind every name."""

from __future__ import annotations

import zlib
from types import ModuleType
from typing import Any

import torch
from torch import nn

from .commands import made
from .configs import Config
from .nothing import NothingModule

PROVIDES = ("transformers", "pytorch_transformers", "pytorch_pretrained_bert")
SAYS = "not installed here: small models and a tokenizer that hashes words"
WORDS, WIDTH, STEPS = 512, 768, 6


class Encoding(Config):
    """Tensors by name, which can be moved."""

    def to(self, *args: Any, **kwargs: Any) -> Encoding:
        return self

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The word that each token is of; None for the marks around them."""
        rows = torch.as_tensor(self["attention_mask"])
        row = rows[batch_index] if rows.dim() > 1 else rows
        last = int(row.sum()) - 1
        return [n - 1 if 0 < n < last else None for n in range(len(row))]


class Output(Config):
    """What a model gives: by name, by attribute, or by position among those that are there."""

    def __getitem__(self, key: Any) -> Any:
        return self.to_tuple()[key] if isinstance(key, int | slice) else super().__getitem__(key)

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(value for value in self.values() if value is not None)

    def __iter__(self) -> Any:
        return iter(self.to_tuple())


class Tokenizer:
    """Words as numbers; every text becomes as long as the longest."""

    vocab_size = WORDS
    pad_token = unk_token = cls_token = sep_token = mask_token = bos_token = eos_token = "[PAD]"
    pad_token_id = 0
    cls_token_id = bos_token_id = 1
    sep_token_id = eos_token_id = 2
    mask_token_id = unk_token_id = 3
    model_max_length = 512

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Tokenizer:
        return cls()

    def __len__(self) -> int:
        return WORDS

    def tokenize(self, text: str, *args: Any, **kwargs: Any) -> list[str]:
        return text.split()

    def convert_tokens_to_ids(self, words: Any) -> Any:
        if isinstance(words, str):
            return 4 + zlib.crc32(words.encode()) % (WORDS - 4)
        return [self.convert_tokens_to_ids(word) for word in words]

    def encode(self, text: str, *args: Any, **kwargs: Any) -> Any:
        ids = [1, *self.convert_tokens_to_ids(text.split()), 2]
        return torch.tensor([ids]) if kwargs.get("return_tensors") else ids

    def decode(self, ids: Any, *args: Any, **kwargs: Any) -> str:
        return " ".join(f"w{int(number)}" for number in ids)

    def batch_decode(self, rows: Any, *args: Any, **kwargs: Any) -> list[str]:
        return [self.decode(row) for row in rows]

    def __call__(self, text: Any = "", pair: Any = None, *args: Any, **kwargs: Any) -> Encoding:
        texts = [text] if isinstance(text, str) else list(text)
        if kwargs.get("is_split_into_words") and texts and isinstance(texts[0], str):
            texts = [" ".join(texts)]
        said = (" ".join(map(str, one)) if isinstance(one, list | tuple) else one for one in texts)
        rows = [self.encode(str(one)) for one in said]
        limit = kwargs.get("max_length") or 64
        padded = kwargs.get("padding") == "max_length"
        length = limit if padded else min(max(map(len, rows)), limit)
        ids = [(row + [0] * length)[:length] for row in rows]
        mask = [[int(number != 0) for number in row] for row in ids]
        if isinstance(text, str) and not kwargs.get("return_tensors"):
            return Encoding(input_ids=ids[0], attention_mask=mask[0])
        if kwargs.get("return_tensors") is None:
            return Encoding(input_ids=ids, attention_mask=mask)
        return Encoding(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask))

    encode_plus = batch_encode_plus = __call__

    def add_special_tokens(self, *args: Any, **kwargs: Any) -> int:
        return 0

    add_tokens = save_pretrained = add_special_tokens


class ModelConfig(Config):
    """Sizes; any other setting is absent."""

    def __init__(self, **kwargs: Any) -> None:
        known = {"hidden_size": WIDTH, "vocab_size": WORDS, "num_labels": 2, "n_embd": WIDTH}
        super().__init__(known, **kwargs)

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> ModelConfig:
        return cls(**kwargs)


class Embeddings(nn.Module):
    """Words as vectors, by the names that attacks and optimizers look for."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(WORDS, width)
        self.LayerNorm = nn.LayerNorm(width)

    def forward(self, input_ids: Any = None, inputs_embeds: Any = None) -> Any:
        if inputs_embeds is None:
            inputs_embeds = self.word_embeddings(input_ids % WORDS)
        return self.LayerNorm(inputs_embeds)


class Attention(nn.Module):
    """One head, with the parts by the names that adapters look for."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.dense = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        given = nn.functional.scaled_dot_product_attention(
            self.query(x), self.key(x), self.value(x)
        )
        return x + self.dense(given)


class Model(nn.Module):
    """Embeddings, one layer, and the head that the class's name asks for."""

    head_kind = ""

    def __init__(self, config: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.config = config if isinstance(config, dict) else ModelConfig(**kwargs)
        width = int(self.config.get("hidden_size") or WIDTH)
        self.embeddings = Embeddings(width)
        self.encoder = nn.Sequential(Attention(width), nn.Tanh())
        labels = int(self.config.get("num_labels") or 2)
        if self.head_kind:
            self.classifier = nn.Linear(width, WORDS if "LM" in self.head_kind else labels)

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Any:
        """A model with noise for weights."""
        config = kwargs.pop("config", None)
        return cls(config, **{k: v for k, v in kwargs.items() if k == "num_labels"})

    from_config = from_pretrained

    def get_input_embeddings(self) -> nn.Module:
        return self.embeddings.word_embeddings

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        *args: Any,
        labels: Any = None,
        inputs_embeds: Any = None,
        **kwargs: Any,
    ) -> Output:
        """Hidden states, or the head's scores with a loss where labels are given."""
        embedded = self.embeddings(input_ids, inputs_embeds)
        hidden = self.encoder(embedded)
        if not self.head_kind:
            return Output(last_hidden_state=hidden, pooler_output=hidden[:, 0])
        pooled = hidden[:, 0] if "Sequence" in self.head_kind else hidden
        scores = self.classifier(pooled)
        states = (embedded, hidden) if kwargs.get("output_hidden_states") else None
        return Output(loss=self._loss(scores, labels), logits=scores, hidden_states=states)

    def _loss(self, scores: Any, labels: Any) -> Any:
        if labels is None:
            return None
        if labels.is_floating_point():
            return nn.functional.mse_loss(scores.reshape(labels.shape), labels)
        if self.head_kind == "CausalLM":
            scores, labels = scores[:, :-1], labels[:, 1:]
        wanted = torch.where(labels < 0, labels, labels % scores.shape[-1])
        return nn.functional.cross_entropy(scores.flatten(0, -2), wanted.flatten())

    def generate(self, input_ids: Any, *args: Any, **kwargs: Any) -> Any:
        return input_ids

    def freely(self, *args: Any, **kwargs: Any) -> Any:
        return self

    resize_token_embeddings = gradient_checkpointing_enable = save_pretrained = freely
    enable_input_require_grads = freely


class Trainer:
    """Trains for a few steps as the real one would, through `compute_loss`."""

    def __init__(self, model: Any = None, args: Any = None, *_: Any, **kwargs: Any) -> None:
        self.model, self.args = model, args
        self.train_dataset: Any = kwargs.get("train_dataset")
        self.collate = kwargs.get("data_collator")
        self.optimizer = (kwargs.get("optimizers") or (None,))[0]

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
        outputs = model(**inputs)
        return (outputs["loss"], outputs) if return_outputs else outputs["loss"]

    def training_step(self, model: Any, inputs: Any, *args: Any) -> Any:
        loss = self.compute_loss(model, inputs)
        loss.backward()
        return loss.detach()

    def train(self, *args: Any, **kwargs: Any) -> None:
        loader = torch.utils.data.DataLoader(
            self.train_dataset, batch_size=4, collate_fn=self.collate
        )
        optimizer = self.optimizer or torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        for _, inputs in zip(range(STEPS), loader, strict=False):
            self.training_step(self.model, inputs)
            optimizer.step()
            optimizer.zero_grad()

    def nothing(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {}

    evaluate = predict = save_model = add_callback = nothing


def schedule(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """A schedule that changes nothing."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


class ArgumentParser:
    """`HfArgumentParser`: instances of the classes."""

    def __init__(self, kinds: Any, *args: Any, **kwargs: Any) -> None:
        self._kinds = kinds if isinstance(kinds, list | tuple) else [kinds]

    def parse_args_into_dataclasses(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(made(kind) for kind in self._kinds)


class Package(NothingModule):
    """`transformers`: a class by its name."""

    def __getattr__(self, name: str) -> Any:
        if name.endswith(("Tokenizer", "TokenizerFast", "Processor")):
            return Tokenizer
        if name.endswith("Config"):
            return ModelConfig
        if "For" in name and name[:1].isupper():
            return type(name, (Model,), {"head_kind": name.rpartition("For")[2]})
        if name.endswith(("Model", "LMHeadModel")):
            kind = "CausalLM" if name.endswith("LMHeadModel") else ""
            return type(name, (Model,), {"head_kind": kind})
        if name.startswith("get_") and "schedule" in name:
            return schedule
        return super().__getattr__(name)


def module(name: str) -> ModuleType:
    """`transformers`, or a part of it."""

    def set_seed(seed: int, *args: Any, **kwargs: Any) -> None:
        torch.manual_seed(seed)

    return Package(
        name,
        AdamW=torch.optim.AdamW,
        BertAdam=torch.optim.AdamW,
        PreTrainedModel=Model,
        Trainer=Trainer,
        HfArgumentParser=ArgumentParser,
        set_seed=set_seed,
    )
