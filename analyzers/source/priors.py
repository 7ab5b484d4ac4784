"""What the names that people choose suggest: a prior, where nothing else says what is meant.

These are the analyses' only regular expressions over users' names. A name proves nothing: what was
resolved or observed comes first.
"""

from __future__ import annotations

import re

_DISCOUNT = re.compile(r"(?:.*\.)?_?discount\w*", re.IGNORECASE)
_GAMMA = re.compile(r"(?:.*\.)?_?gamma", re.IGNORECASE)
_REWARD = re.compile(r"(?:.*\.)?(?:r|rew|rewards?|\w+_rewards?|rewards?_\w+)", re.IGNORECASE)
_DONE = re.compile(r"(?:.*\.)?_?(?:dones?|terminals?|terminated|not_dones?)", re.IGNORECASE)
_TARGET = re.compile(
    r"(?:.*\.)?_?(?:(?:td|q|v|value|critic)_?targets?|targets?(?:_(?:q|v|value|values|p))?)",
    re.IGNORECASE,
)
_ADVANTAGE = re.compile(
    r"(?:.*\.)?_?(?:\w*adv(?:antages?|s)?|\w*deltas?|td_errors?)", re.IGNORECASE
)
_TEACHER = re.compile(
    r"(?:.*\.)?_?(?:(?:teacher|pseudo|bootstrap|sharpened|soft_?(?:label|target))\w*|guesses)",
    re.IGNORECASE,
)
_LOGARITHM = re.compile(r"(?:^|[._])(?:log|lp|nll|ratio)", re.IGNORECASE)
_KEPT_OUT = re.compile(
    r"fixed|frozen|random|target|teacher|critic|judge|percept|vgg|lpips|prior|proxy|(?<![a-z])(?:ema|old|ref)(?![a-z])",
    re.IGNORECASE,
)
_SHARPNESS = re.compile(r"(?:^|_|\b)sam(?:_|\b|$)|SAM|[Ss]harp|[Aa]scen|climb|first_step")
_WEIGHT = re.compile(r"p|w|b|.*(param|weight|bias).*")
_DERIVED = re.compile(r"grad|loss|param|weight", re.IGNORECASE)
_CUTTING = re.compile(r"detach|repackage|stop_?grad", re.IGNORECASE)
_LOSS = re.compile(r"loss|criterion|mse|kl_div|bce", re.IGNORECASE)
_LOSS_FUNCTION = re.compile(
    r"(?:\w+_loss|cross_entropy|nll_loss|kl_div|criterion|loss_fn|\w*[lL]oss)$"
)
_COUNT = re.compile(
    r"(?:.*_)?(?:steps?|counts?|counter|epochs?|iters?|iterations?)|(?:num|n)_\w+", re.IGNORECASE
)
_SCHEDULER = re.compile(r"sched", re.IGNORECASE)
_ONE_LOSS = re.compile(r"\b(?:([A-Za-z]\w{0,40})_)?(?:loss|err)(?:_?([A-Za-z0-9]|[a-z]{2,40}))?\b")
_PLAYERS = frozenset(
    {"gen", "generator", "disc", "discriminator", "critic", "actor", "policy", "value", "adv"}
)


def is_discount(name: str) -> bool:
    """Return True if a name is typical for a discount factor."""
    return is_plain_discount(name) or is_gamma(name)


def is_plain_discount(name: str) -> bool:
    """Return True if a name can only mean a discount factor; `gamma` may mean another number."""
    return _DISCOUNT.fullmatch(name) is not None


def is_gamma(name: str) -> bool:
    """Return True for `gamma`, as a name or an attribute."""
    return _GAMMA.fullmatch(name) is not None


def is_reward(name: str) -> bool:
    """Return True if a name is typical for a reward."""
    return _REWARD.fullmatch(name) is not None


def is_done(name: str) -> bool:
    """Return True if a name is typical for the flag of an episode's end."""
    return _DONE.fullmatch(name) is not None


def is_target(name: str) -> bool:
    """Return True if a name is typical for what predictions are compared with."""
    return _TARGET.fullmatch(name) is not None


def is_count(name: str) -> bool:
    """Return True if a name is typical for a plain number that counts."""
    return _COUNT.fullmatch(name) is not None


def is_advantage(name: str) -> bool:
    """Return True if a name is typical for an advantage or a temporal difference."""
    return _ADVANTAGE.fullmatch(name) is not None


def is_teacher(name: str) -> bool:
    """Return True if a name is typical for what another network or an older state predicts."""
    return _TEACHER.fullmatch(name) is not None


def is_logarithm(name: str) -> bool:
    """Return True if a name is typical for a log-probability or a ratio of probabilities."""
    return _LOGARITHM.search(name) is not None


def is_left_out(name: str) -> bool:
    """Return True if a name is typical for parameters that no optimizer holds on purpose."""
    return _KEPT_OUT.search(name) is not None


def is_ascent(name: str) -> bool:
    """Return True if a name is typical for the first step of a sharpness-aware optimizer."""
    return _SHARPNESS.search(name) is not None


def is_weight(name: str) -> bool:
    """Return True if a name is typical for a parameter of a module, or of a loop over these."""
    return _WEIGHT.fullmatch(name.rpartition(".")[2]) is not None


def is_derived(name: str) -> bool:
    """Return True if a name is typical for what is made of parameters, and for no data."""
    return _DERIVED.search(name) is not None


def is_cutting(name: str) -> bool:
    """Return True if a name is typical for a function whose results have no graph."""
    return _CUTTING.search(name) is not None


def is_loss(name: str) -> bool:
    """Return True if a name has a part that is typical for a loss function."""
    return _LOSS.search(name) is not None


def is_loss_function(name: str) -> bool:
    """Return True if a whole name is typical for a loss function."""
    return _LOSS_FUNCTION.match(name) is not None


def is_scheduler(name: str) -> bool:
    """Return True if a name is typical for a scheduler of learning rates."""
    return _SCHEDULER.search(name) is not None


def names_several_losses(code: str) -> bool:
    """Return True if code has several names of losses, or one of which there are others (`g_loss`,
    `loss2`, `critic_loss`)."""
    of = {(before.rpartition("_")[2] or after).lower() for before, after in _ONE_LOSS.findall(code)}
    of.discard("")
    return len(of) > 1 or any(len(name) == 1 or name in _PLAYERS for name in of)
