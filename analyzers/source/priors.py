"""What the names that people choose suggest: a prior, where nothing else says what is meant.

These are the analyses' only regular expressions over users' names. A name proves nothing: what was
resolved or observed comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Prior = Callable[[str], bool]


def _whole(pattern: str, flags: int = re.IGNORECASE) -> Prior:
    """Return a test of whole names, dotted or not."""
    known = re.compile(rf"(?:.*\.)?(?:{pattern})", flags)
    return lambda name: known.fullmatch(name) is not None


def _part(pattern: str, flags: int = re.IGNORECASE) -> Prior:
    """Return a test of any part of a name."""
    known = re.compile(pattern, flags)
    return lambda name: known.search(name) is not None


is_plain_discount = _whole(r"_?discount\w*")
"""A discount factor and nothing else; `gamma` may mean another number."""
is_gamma = _whole(r"_?gamma")
is_reward = _whole(r"r|rew|rewards?|\w+_rewards?|rewards?_\w+")
is_done = _whole(r"_?(?:dones?|terminals?|terminated|not_dones?)")
"""The flag of an episode's end."""
is_target = _whole(r"_?(?:(?:td|q|v|value|critic)_?targets?|targets?(?:_(?:q|v|value|values|p))?)")
"""What predictions are compared with."""
is_advantage = _whole(r"_?(?:\w*adv(?:antages?|s)?|\w*deltas?|td_errors?)")
"""An advantage or a temporal difference."""
is_teacher = _whole(
    r"_?(?:(?:teacher|pseudo|bootstrap|sharpened|soft_?(?:label|target))\w*|guesses)"
)
"""What another network or an older state predicts."""
is_old = _part(r"(?<![a-z])(?:old|prev|previous|behaviou?r|rollout|stored|saved)(?![a-z])")
"""A value of an earlier policy."""
is_weight = _whole(r"p|w|b|[^.]*(param|weight|bias)[^.]*", 0)
"""A parameter of a module, or of a loop over these."""
is_logarithm = _part(r"(?:^|[._])(?:log|lp|nll|ratio)")
"""A log-probability or a ratio of probabilities."""
is_left_out = _part(
    r"fixed|frozen|random|target|teacher|critic|judge|percept|vgg|lpips|prior|proxy|(?<![a-z])(?:ema|old|ref)(?![a-z])"
)
"""Parameters that no optimizer holds on purpose."""
is_ascent = _part(r"(?:^|_|\b)sam(?:_|\b|$)|SAM|[Ss]harp|[Aa]scen|climb|first_step", 0)
"""The first step of a sharpness-aware optimizer."""
is_derived = _part(r"grad|loss|param|weight")
"""What is made of parameters, and no data."""
is_cutting = _part(r"detach|repackage|stop_?grad")
"""A function whose results have no graph."""
is_loss = _part(r"loss|criterion|mse|kl_div|bce")
"""A loss function, or what is named for one."""
is_loss_function = _part(
    r"^(?:\w+_loss|cross_entropy|nll_loss|kl_div|criterion|loss_fn|\w*[lL]oss)$", 0
)
"""A loss function, by its whole name."""
is_divergence = _part(r"(?:^|_)kl(?:$|_|d|s)|divergence|elbo")
"""A divergence by which a distribution is held near another one."""
is_scheduler = _part(r"sched")
is_count = _part(
    r"^(?:(?:.*_)?(?:steps?|counts?|counter|epochs?|iters?|iterations?)|(?:num|n)_\w+)$"
)
"""A plain number that counts."""
_ONE_LOSS = re.compile(r"\b(?:([A-Za-z]\w{0,40})_)?(?:loss|err)(?:_?([A-Za-z0-9]|[a-z]{2,40}))?\b")
_PLAYERS = frozenset(
    {"gen", "generator", "disc", "discriminator", "critic", "actor", "policy", "value", "adv"}
)


def is_discount(name: str) -> bool:
    """Return True if a name is typical for a discount factor."""
    return is_plain_discount(name) or is_gamma(name)


def names_several_losses(code: str) -> bool:
    """Return True if code has several names of losses, or one of which there are others (`g_loss`,
    `loss2`, `critic_loss`)."""
    of = {(before.rpartition("_")[2] or after).lower() for before, after in _ONE_LOSS.findall(code)}
    of.discard("")
    return len(of) > 1 or any(len(name) == 1 or name in _PLAYERS for name in of)
