"""Questions that are known, in words of our own; and words that ask nothing."""

from __future__ import annotations

import pytest

from analyzers.messages import question_in

ASKED = {
    "How can I accumulate gradients of two models with accelerate?": "accumulating-several",
    "no_backward_sync with model_1 and model_2, how is it used?": "accumulating-several",
    "DDP: gradients are not averaged when I call a method of my own": "gradients-not-averaged",
    "Does Fabric not synchronize gradients here?": "gradients-not-averaged",
    "Is all_gather differentiable, or is the gradient lost?": "collective-without-gradient",
    "Multi-GPU: the backward fails, on a single GPU it is fine": "fails-on-several-gpus",
    "grad_norm is different with zero2 and zero3, the loss is the same": "zero-stages-differ",
    "What is the purpose of model.enable_input_require_grads()?": "input-requires-grad",
    "Does it cost accuracy? Training gets slower to converge with gradient checkpointing": (
        "checkpointing-changes-training"
    ),
    "torch.compile under DDP with activation checkpointing crashes": "ddp-of-compiled",
    "The compiled function gives a wrong gradient, eager mode is right": (
        "compiled-gradient-differs"
    ),
    "ZeRO-3: calling backward twice ends in a size mismatch": "sharded-backward-twice",
    "The ranks get out of sync in their weights": "gradients-not-averaged",
    "grad_norm is nan in GRPO": "loss-is-nan",
    "Does inductor support double-backward gradients? It is not supported": (
        "compiled-twice-differentiated"
    ),
    "The gradient of my Triton kernel is wrong after a concatenation": "kernel-gradient",
    "How do I implement the backward of a CUDA kernel?": "kernel-without-backward",
    "register_full_backward_hook is never called": "hook-not-called",
    "Our test_step needs gradients in spite of inference_mode": "evaluation-with-gradients",
    "GRPO: the ratio is 1 and the advantages are centred, is there a gradient?": "policy-loss",
    "Only the rows of the new tokens should be trainable, the embedding is frozen": (
        "part-of-a-parameter"
    ),
    "Does apply_optimizer_in_backward work with accumulated batches?": "step-in-backward",
    "The loss is nan after the first step of LoRA training": "loss-is-nan",
    "微调时 loss 为 nan，怎么办": "loss-is-nan",
    "torch.func.jvp does not work with flash attention": "no-forward-mode",
    "How do I get the Hessian of the parameters?": "derivative-of-parameters",
    "jacrev and my own Jacobian disagree": "jacobians-differ",
    "No training when gradient_checkpointing is enabled": "checkpointing-learns-nothing",
    "Gradient checkpointing is broken with DDP": "checkpointing-several-gpus",
    "DDP on 4 GPUs has a different loss than a single GPU": "more-processes-differ",
    "Can I freeze a part of the model after wrapping it with DDP?": "frozen-under-ddp",
    "FSDP2: freezing some weights": "fsdp-flags",
    "With FSDP every gradient is None after backward": "sharded-gradient-read",
    "Why is clip_grad_norm_ called after accelerator.backward?": "place-of-clipping",
    "GradScaler with two optimizers": "scaler-several-optimizers",
    "Should the backward be under autocast?": "backward-under-autocast",
    "Why save_for_backward and not ctx.x = x?": "saved-for-backward",
    "The Hessian of my ReLU network is zero": "piecewise-linear",
    "vmap fails as soon as gradient checkpointing is on": "hooks-in-transform",
    "DPO training: the loss stays at 0.6931": "preference-loss",
    "Lightning: do several steps need manual optimization?": "lightning-manual",
    "Can the gradient be changed under summon_full_params?": "sharded-gradient-read",
    "FSDP loses requires_grad of its flat_param": "fsdp-flags",
    "The Jacobian needs the backward of attention, which fails": "attention-differentiated-twice",
    "Is gradient checkpointing incompatible with ZeRO-3?": "checkpointing-sharded",
    "Which objects is save_for_backward allowed to keep?": "saved-for-backward",
    "ctx.saved_tensors does not work in my backward": "saved-for-backward",
    "How to add a custom gradient to the rasterizer?": "kernel-without-backward",
    "self.model.zero_grad() here, or self.optimizer.zero_grad()?": "whose-zero-grad",
    "zero_grad after the loss instead of before it": "place-of-clearing",
    "Chapter 3 forgets to zero_grad": "gradients-add-up",
    "A frozen layer crashes the scaling of gradients": "freezing",
    "torch.compile is silently incorrect for double backward": "compiled-twice-differentiated",
    "torch.compile under no_grad is broken": "compiled-flags",
    "vmap(grad(f)): indexing breaks, x has shape (5,)": "sample-without-batch",
    "Do per-sample gradients work with BatchNorm?": "buffers-under-vmap",
    "FSDP2: gradient accumulation saves no communication": "sharded-accumulation",
    "checkpoint(f, x) has requires_grad=False": "checkpoint-inputs",
    "Can functorch use my autograd.Function?": "no-setup-context",
    "Why is the step outside the loop, and loss.backward() inside?": "losses-one-by-one",
    "torch.compile overwrites a variable, which is an error": "cudagraph-overwritten",
    "gradcheck fails for my straight-through rounding": "not-the-derivative",
    "Why is this nn.Parameter updated by a rule?": "parameter-or-buffer",
    "Is the order of zero_grad and backward right?": "place-of-clearing",
    "zero_grad is in the wrong place": "place-of-clearing",
    "Dropout in a checkpointed block: is it the same mask?": "checkpointing-changes-training",
    "utils.checkpoint with BatchNorm": "checkpointing-changes-training",
    "Which gradient does binarize have in the backward?": "straight-through",
    "How to write an autograd.Function?": "how-functions-work",
    "必须用detach截断吗": "why-cut",
    "retain_graph=True instead of create_graph=True?": "second-order-or-not",
    "DDP crashes with unused parameters": "unfinished-reduction",
    "Compiled code ignores that requires_grad was toggled": "compiled-flags-changed",
    "The loss is computed in fp16 although autocast is off": "half-after-autocast",
    "Can generate() be used for training?": "generation-in-training",
    "Should dW2 be divided by m in backward_propagation?": "hand-written-derivatives",
}
OTHERS = (
    "The aspect ratio of both images is the same.",
    "We serve the model with a Triton server in Docker.",
    "I load a checkpoint and evaluate it on two models.",
    "The policy of this repository is that model cards are equal in length.",
    "Attention maps are plotted in evaluation.",
    "The images of both cameras are not synchronized.",
    "The compiled binary is in the release.",
    "See https://example.org/how-to/gradient-checkpointing/with-ddp/fails?why",
    "The shape of the batch is wrong in my loader",
    "We save the tensors to disk after each epoch",
    "The layer crashes for long inputs",
    "Does the compiled model run on Windows?",
    "What comes after the loop of the demo?",
    "The metric is computed on the test set",
    "The demo calls generate() to print a sample",
    "grads[0] is printed",
    "The compiled model is frozen into a file",
)


@pytest.mark.parametrize(("words", "entry"), ASKED.items(), ids=lambda text: text[:40])
def test_a_question_is_known_in_other_words(words: str, entry: str) -> None:
    found = question_in(words)
    assert found is not None
    assert found.id == entry


@pytest.mark.parametrize("words", OTHERS)
def test_other_words_ask_nothing(words: str) -> None:
    assert question_in(words) is None
