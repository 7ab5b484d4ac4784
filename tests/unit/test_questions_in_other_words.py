"""Questions about training that raise no error, in the words and languages of different people."""

from __future__ import annotations

import pytest

from analyzers.messages.entry import CatalogueError
from analyzers.messages.topics import topics_of
from analyzers.request.examine import examine
from analyzers.request.examined import Examined


def asked(words: str) -> Examined:
    return examine(f"{words}\n", "train.py", {}, "")


@pytest.mark.parametrize(
    ("words", "entry", "part"),
    [
        ("Train loss becomes nan in epoch 3", "loss-is-nan", "learning rate"),
        ("The loss is nan with fp16 on my cards", "loss-is-nan", "65504"),
        ("exploding gradients in my GRU", "gradients-explode-or-vanish", "clip"),
        ("The loss is 0 from the first batch on", "loss-is-zero", "no label counts"),
        ("GRPO: loss is 0, what about the reward?", "loss-is-zero", "reward_std"),
        ("max_grad_norm is ignored?", "clipped-norm-logged", "that before clipping"),
        ("The loss goes down very slowly", "loss-falls-slowly", "ten times"),
        ("Frozen layers are still updated", "frozen-and-changing", "momentum"),
        ("Unfreezing the head does not work", "unfrozen-without-effect", "add_param_group"),
        ("Should the encoder be frozen here?", "freezing", "skips a parameter"),
        ("Why is the backbone set twice to frozen?", "frozen-twice", "no effect"),
        ("Do running_mean values change in a forward, why?", "batch-norm-statistics", "eval()"),
        ("Should the ratio of PPO not be detached?", "why-cut", "never the ratio"),
        ("Why do you detach the hidden state of the GRU?", "why-cut", "each backward"),
        ("Is score - score.detach() not just zero?", "value-minus-itself", "without changing"),
        ("Why is create_graph missing?", "second-order-or-not", "penalty"),
        ("Can the inner loop use AdamW?", "inner-steps", "functional_call"),
        ("Why is optimizer.step() called twice?", "which-parameters-step", "before the steps"),
        ("Is u.sum() right in autograd.grad?", "derivative-of-a-sum", "both forms are right"),
        ("Is `loss.backward(loss)` meant?", "gradient-given-itself", "`loss.backward()`"),
        ("What is the difference of no_grad and eval()?", "gradient-switches", "eval()"),
        ("Does clone() differ from detach()?", "gradient-switches", "stays in the graph"),
        ("No gradient for the pose of the rasterizer", "extension-without-gradient", "gsplat"),
        ("Does the EMA model need gradients?", "teacher-learns", "requires_grad_(False)"),
        ("Which loss trains the codebook?", "codebook-terms", "not detached"),
        ("Is loss1 + loss2 the same as two backward?", "losses-one-by-one", "once"),
        ("u_xx is zero everywhere", "second-derivative-is-zero", "smooth"),
        ("Is an in-place operation allowed here?", "in-place-allowed", "x = x + y"),
        ("How to check which gradients are there?", "where-gradients-go", "named_parameters"),
        ("I forgot loss.backward(), does it matter?", "step-missing", "no gradients"),
        ("The gradient of the generator is doubled", "gradients-add-up", "zero_grad"),
        ("Why x.requires_grad = True for the images?", "input-that-requires-gradient", "penalty"),
        ("Two losses, backward one by one or as a sum?", "losses-one-by-one", "retain_graph=True"),
        ("How do I get the gradient of an intermediate value?", "gradient-of-a-value", "retain_g"),
        ("How can I compute a Hessian?", "jacobians", "torch.func"),
        ("How to train only the new embedding rows?", "part-of-a-parameter", "torch.cat"),
        ("How to set different learning rates?", "parameter-groups", "param_groups"),
        ("Can I use two optimizers?", "several-optimizers", "before the steps"),
        ("How to do backward through time?", "through-long-sequences", "truncated"),
        ("In PPO, the ratio is always 1", "ratio-is-one", "log-probabilities"),
        ("Do the critic's gradients flow into the actor?", "gradients-too-far", "detach it"),
        ("Is argmax differentiable?", "operations-without-derivative", "gumbel_softmax"),
        ("How do I write a straight-through estimator?", "straight-through", "autograd"),
        ("Are gradients recorded in eval mode, why?", "eval-and-gradients", "no_grad()"),
        ("In eval mode the results are worse", "eval-differs", "running_mean"),
        ("My backward hook is never called", "hook-not-called", "before the backward"),
        ("Does float(loss) break the graph?", "numbers-of-tensors", "call `backward()`"),
        ("Where should clip_grad_norm_ stand?", "place-of-clipping", "between"),
        ("It predicts only one class", "one-output-for-all", "ten samples"),
        ("Can it be that the loss is negative?", "loss-is-negative", "by its trend"),
        ("With PPO, the loss is always negative", "loss-is-negative", "by the reward"),
        ("Why does the policy loss increase?", "policy-loss-value", "baseline"),
        ("Why is batch norm frozen here?", "freezing", "goes on learning"),
        ("Is grad acc right here?", "accumulation", "divide each loss"),
        ("Do we need to add 'opt.zero_grad()'?", "gradients-add-up", "sum of the gradients"),
        ("Is D changed when you update the generator?", "two-networks", "does not change it"),
        ("Why don't you zero_grad between discriminator steps?", "two-networks", "add up"),
        ("Should D be fixed while training the generator?", "two-networks", "cuts the generator"),
        (
            "A discriminator update without optimizer.step?",
            "two-networks",
            "never steps",
        ),
        ("The weights are updated with both the loss and the attack?", "gradients-too-far", "sum"),
        ("The loss is nan, and I added eps to torch.sqrt", "loss-is-nan", "inside of it"),
    ],
)
def test_a_question_has_the_answer_of_its_kind(words: str, entry: str, part: str) -> None:
    examined = asked(words)
    assert examined.asked == entry
    assert part in f"{examined.hints[0].text} {examined.hints[-1].text}"


@pytest.mark.parametrize(
    "words",
    [
        "Les poids du modèle ne changent pas",
        "Die Gewichte ändern sich nicht",
        "Los pesos no se actualizan",
        "Os pesos não são atualizados",
        "Веса модели не обновляются",
        "モデルが学習しない。",
        "모델이 학습되지 않습니다",
        "模型没有学习。",
        "El loss no baja",
        "損失が下がらない。",
        "손실이 줄지 않아요",
    ],
)
def test_the_language_of_a_question_does_not_matter(words: str) -> None:
    assert asked(words).asked == "nothing-learns"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("The gradients of two layers are all zero.", "saturated"),
        ("x.grad of an intermediate value is None", "retain_grad()"),
        ("The generated image of the sampler is not differentiable, grad is None", "no_grad"),
        ("advantage = reward - value.detach(), so the critic's weights never change", "critic"),
        ("With Lightning the weights are not updated", "training_step"),
        ("The weights of my frozen encoder get no gradient: grad is None", "on purpose"),
        ("My PINN: its loss does not decrease", "derivatives"),
        ("A layer in a python list: its weights are not updated", "nn.ModuleList"),
        ("After copy.deepcopy, the copied model does not train", "optimizer"),
        ("A loss with numpy does not train", "cut off"),
        ("With weight_norm, the gradient of the weight is None", "weight_g"),
        ("After a backward, some of the gradients are None", "only some"),
    ],
)
def test_of_nothing_that_learns_the_words_tell_the_cause(words: str, part: str) -> None:
    examined = asked(words)
    assert examined.asked == "nothing-learns"
    assert part in examined.hints[0].text


def test_a_special_question_comes_before_a_general_one() -> None:
    words = "A demo\n\nThe loss is not decreasing.\n\nSo one has to add a line\nwith zero_grad."
    assert asked(words).asked == "gradients-add-up"
    assert asked("The loss is not decreasing\n\nWhy retain_graph?").asked == "nothing-learns"


def test_a_name_between_quotation_marks_is_no_quotation() -> None:
    assert asked('What is the purpose of "retain_graph=True"?').asked == "why-retained"
    assert asked('They say "why do you detach it here" of this').asked is None


def test_memory_that_rises_and_stays_is_no_leak() -> None:
    (first, *_) = asked("GPU memory grows to 20 GB and is stable then. Why?").hints
    assert "no leak" in first.text


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("# Freezing and speed\n\nWith a frozen trunk an epoch takes longer. Any idea?", "freez"),
        ("# The line of no_grad\n\nWho wrote that, and how?", "no_grad"),
        ("# Accumulated\n\nIs gradient accumulation on line 3 for me?", "gradient accum"),
    ],
)
def test_a_question_that_is_not_known_gets_what_is_known_of_its_topic(
    words: str, name: str
) -> None:
    examined = asked(words)
    assert examined.asked is not None
    assert "the question itself is not known here" in examined.hints[0].text
    assert name in examined.hints[0].text.lower()


@pytest.mark.parametrize(
    "words",
    [
        "The trunk is frozen.",
        "The shapes do not match, why?",
        "How do I install it?",
        "We do not backpropagate through the teacher.",
        "With DeepSpeed ZeRO the gradient buckets are large.",
        "Nan is my grandmother.",
        "The memory of the past",
        "Policy of the house: no questions.",
        "How to use a different data loader?",
        "How to show the feature map of the last layer?",
        "What threshold is best at test time?",
        "How to draw samples from it?",
        "The replicas diverge in their logs.",
        "Only one class is in the data.",
        "How many iterations to train the generator?",
        "Could you share the parameters of the discriminator?",
        "The forward hook gets offsets=None.",
    ],
)
def test_what_asks_nothing_of_a_graph_is_not_answered(words: str) -> None:
    assert asked(words).asked is None


HEALTHY = """\
import torch
from torch import nn

net, opt = nn.Linear(3, 1), None
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):  # how many? zero_grad, then detach the frozen part
    opt.zero_grad()
    loss = net(torch.ones(2, 3)).mean()
    loss.backward()
    opt.step()
with torch.no_grad():  # why no_grad: nothing learns here
    print(net(torch.ones(2, 3)).mean())
"""


def test_comments_of_a_script_touch_no_topic() -> None:
    examined = examine(HEALTHY, "train.py", {}, "")
    assert examined.hints == ()


def test_an_old_optimizer_that_refuses_what_is_frozen_is_known() -> None:
    examined = asked("ValueError: optimizing a parameter that doesn't require gradients")
    assert "if p.requires_grad]" in examined.hints[0].text


def test_a_topic_is_defined_once() -> None:
    assert topics_of([{"grows": ["grow"]}, {"stays": ["stay"]}]).keys() == {"grows", "stays"}
    with pytest.raises(CatalogueError, match="two files define the topic grows"):
        topics_of([{"grows": ["grow"]}, {"grows": ["rise"]}])
