"""Ids of patterns are stable: once given, an id belongs to its pattern for good."""

from __future__ import annotations

import re

from analyzers.explain.pattern import by_id, patterns

GIVEN = {
    "GM001": "accumulated-loss",
    "GM002": "derived-outside-loop",
    "GM003": "duplicate-backward",
    "GM004": "forward-outside-loop",
    "GM005": "grad-then-backward",
    "GM006": "higher-order",
    "GM007": "lbfgs-closure",
    "GM008": "manual-tbptt",
    "GM009": "notebook-rerun",
    "GM010": "per-sample-loop",
    "GM011": "recurrent-state",
    "GM012": "shared-subgraph",
    "GM013": "stored-graph",
    "GM014": "undetached-target",
    "GM015": "inplace-activation",
    "GM016": "inplace-leaf",
    "GM017": "inplace-state",
    "GM018": "inplace-view",
    "GM019": "step-between-backwards",
    "GM020": "deepcopy-nonleaf",
    "GM021": "detached-loss",
    "GM022": "leaf-rebound",
    "GM023": "non-scalar-backward",
    "GM024": "nonleaf-grad",
    "GM025": "numpy-on-grad",
    "GM026": "unused-parameter",
    "GM027": "aliased-grad",
    "GM028": "growing-history",
    "GM029": "missing-zero-grad",
    "GM030": "retain-graph-leak",
    "GM031": "starved-parameter",
    "GM032": "checkpoint-mismatch",
    "GM033": "reduced-twice",
    "GM034": "scaler-order",
    "GM035": "function-gradients",
    "GM036": "inference-tensor",
    "GM037": "functional-transform",
    "GM038": "compiled-region",
    "GM039": "no-derivative",
    "GM040": "checkpoint-input",
    "GM041": "nothing-to-train",
    "GM050": "cleared-before-step",
    "GM051": "missing-step",
    "GM052": "wrong-gradient",
}
"""Every id that was ever given. Append; never change or remove a row: where a pattern is gone, its
id is not given again."""


def test_every_pattern_has_the_id_that_it_was_given() -> None:
    assert {pattern.ID: name for name, pattern in patterns().items()}.items() <= GIVEN.items()


def test_no_id_is_given_twice() -> None:
    ids = [pattern.ID for pattern in patterns().values()]
    assert len(ids) == len(set(ids)) == len(by_id())
    assert len(set(GIVEN.values())) == len(GIVEN)


def test_ids_look_alike() -> None:
    assert all(re.fullmatch(r"GM\d{3}", pattern.ID) for pattern in patterns().values())
