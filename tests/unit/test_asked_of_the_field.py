"""Questions of every part of the field, each in words of its own, have the answer of their kind."""

from __future__ import annotations

import pytest

from analyzers.messages import asked

ASKED = {
    "After I reload my checkpoint the loss is much higher than before I stopped. Do I need to save "
    "the optimizer as well?": "resumed-training",
    "Should I save the scheduler and GradScaler state too when I continue a run?": (
        "resumed-training"
    ),
    "My best model is the same as the last one: best = model.state_dict() and later load it.": (
        "best-weights-kept"
    ),
    "The learning rate does not change although I call scheduler.step()": "scheduler-steps",
    "Is weight decay the same as adding an L2 penalty to the loss?": "decay-of-weights",
    "How do I maximize a loss instead of minimizing it?": "maximising",
    "I want to replace p.grad with my own vector and then step, is that possible?": (
        "gradients-written"
    ),
    "How to update weights without an optimizer? w = w - lr * w.grad does not work": (
        "updated-by-hand"
    ),
    "Parameters in bfloat16 stop improving, updates are rounded away?": "updates-rounded-away",
    "I apply softmax before CrossEntropyLoss and the network learns slowly": "softmax-twice",
    "Why does backward take three times longer than forward?": "time-of-backward",
    "Why does activation checkpointing slow down training by half?": "cost-of-checkpointing",
    "Results are not reproducible, each run gives different losses with the same seed": (
        "runs-differ"
    ),
    "Why does training need so much more memory than inference?": "memory-of-training",
    "How do gradients flow between pipeline stages on different GPUs?": "across-devices",
    "In tensor parallelism why is there an all-reduce in the backward?": (
        "tensor-parallel-gradients"
    ),
    "Can I send a tensor with its graph to another process and call backward there?": (
        "graph-in-one-process"
    ),
    "What is the pytorch equivalent of tf.GradientTape?": "other-frameworks",
    "What is a leaf tensor?": "leaf-tensors",
    "Does an if statement in forward break autograd?": "control-flow",
    "I load pretrained weights with strict=False and training behaves as from scratch": (
        "loaded-weights"
    ),
    "Does dropout affect the gradient?": "gradient-of-dropout",
    "How do I backpropagate through a fixed point without unrolling?": "implicit-differentiation",
    "How do I take torch.func.grad with respect to only some parameters?": (
        "some-parameters-transformed"
    ),
    "How to train an ensemble of models with vmap?": "ensembles-mapped",
    "Why is the KL term in the loss using the k3 estimator?": "divergence-term",
    "Can I backpropagate through the reward of the environment?": "reward-without-derivative",
    "Why is the target network's output detached in DQN?": "bootstrapped-target",
    "In SAC, does the actor loss update the critic?": "actor-through-critic",
    "Why is entropy subtracted from the loss in A2C?": "sign-of-entropy",
    "How do I backpropagate through max pooling by hand?": "layers-by-hand",
    "How do surrogate gradients work in spiking networks?": "surrogate-gradients",
    "The grad norm is inf in the first iteration, and then it is normal": "first-norms-not-finite",
    "`torch.compile` silently produces an all-zero gradient for my operation": (
        "compiled-gradient-differs"
    ),
}


@pytest.mark.parametrize(("words", "entry"), ASKED.items())
def test_a_question_has_the_answer_of_its_kind(words: str, entry: str) -> None:
    found = asked.question_in(words)
    assert found is not None
    assert found.id == entry


@pytest.mark.parametrize(
    "words",
    [
        "The scheduler of our cluster starts jobs per epoch of the moon.",
        "We restored the old house, at a higher price.",
        "Spikes in the log, and a membrane on the desk.",
        "I maximized the window.",
        "The leaf fell from the tree.",
        "Two optimists and a pessimist.",
        "The seed of doubt is different in each of us.",
    ],
)
def test_words_of_other_fields_ask_nothing(words: str) -> None:
    assert asked.question_in(words) is None
