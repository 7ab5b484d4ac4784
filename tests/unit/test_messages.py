"""The catalogue knows every message as it is raised, in the wordings of all versions."""

from __future__ import annotations

import pytest

from analyzers.advice import hints
from analyzers.advice.recomputed_shapes import shapes_of
from analyzers.advice.setting_lines import settings_in
from analyzers.explain.pattern import pattern_for
from analyzers.messages import catalogue, entry_of
from analyzers.messages.entry import CatalogueError, read
from analyzers.request.traceback_only import named_in
from analyzers.source.project import Project
from analyzers.tracebacks import parse

# As torch 2.13 and what stands around it raise them, and the entry that is meant.
RAISED = {
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad().": "freed-graph",
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [torch.FloatTensor [7, 1]], which is output 0 of AsStridedBackward0, is at version "
    "3; expected version 2 instead.": "saved-changed",
    "a leaf Variable that requires grad is being used in an in-place operation.": "leaf-written",
    "a view of a leaf Variable that requires grad is being used in an in-place "
    "operation.": "leaf-written",
    "Output 0 of UnbindBackward0 is a view and is being modified inplace. This view is the output "
    "of a function that returns multiple views.": "view-written",
    "A view was created in no_grad mode and is being modified inplace with grad mode "
    "enabled.": "view-written",
    "element 0 of tensors does not require grad and does not have a grad_fn": "no-graph",
    "One of the differentiated Tensors does not require grad": "flat-input",
    "grad can be implicitly created only for scalar outputs": "not-a-number",
    "The differentiated Tensor at index 10 appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior.": "not-used",
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
    "instead.": "numpy-of-grad",
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.": "copy-of-nonleaf",
    "can't optimize a non-leaf Tensor": "nonleaf-optimized",
    "you can only change requires_grad flags of leaf variables. If you want to use a computed "
    "variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach().": "nonleaf-flag",
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.": (
        "nonleaf-gradient"
    ),
    "None of the inputs have requires_grad=True. Gradients will be None": "checkpoint-inputs",
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
    "than during the forward pass.": "recomputed-otherwise",
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
    "and recomputation.": "recomputed-otherwise",
    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
    "original forward pass.": "recomputed-otherwise",
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
    "`inputs` parameter to .backward().": "checkpoint-with-inputs",
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
    "once.": "unpacked-twice",
    "Trying to backward an extra time. You are only allowed to backward once on any region "
    "computed under selective activation checkpoint.": "selective-twice",
    "Tensor cached during selective activation checkpoint has been mutated": "selective-mutated",
    "Expected to mark a variable ready only once. This error is caused by one of the following "
    "reasons: 1) Use of a module parameter outside the `forward` function. Parameter at index 1 "
    "with name adapter.bias has been marked as ready twice.": "ready-twice",
    "The parameter 12 has already been reduced. Gradient computed twice for this partition. "
    "Multiple gradient reduction is currently not supported": "partition-twice",
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You can "
    "enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True`": "unfinished-reduction",
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your training graph has changed in this iteration, e.g., one parameter "
    "is used in first iteration, but then got unused in the second iteration. this is not "
    "compatible with static_graph set to True.": "unfinished-reduction",
    "No inf checks were recorded for this optimizer.": "no-inf-checks",
    "Attempting to unscale FP16 gradients.": "fp16-gradients",
    "unscale_() has already been called on this optimizer since the last update().": (
        "unscaled-twice"
    ),
    "step() has already been called since the last update().": "unscaled-twice",
    "Function ScaleBackward returned an invalid gradient at index 1 - got [3] but expected shape "
    "compatible with [1]": "wrong-gradient",
    "Function AddmmBackward0 returned an invalid gradient at index 1 - got [5, 4] but expected "
    "shape compatible with [5, 8]": "input-resized",
    "function ScaleBackward returned an incorrect number of gradients (expected 2, got 1)": (
        "number-of-gradients"
    ),
    "Jacobian mismatch for output 0 with respect to input 1,\nnumerical:tensor([[1.]])": (
        "not-the-derivative"
    ),
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
    "autograd function with static forward method.": "legacy-function",
    "Function 'SqrtBackward0' returned nan values in its 0th output.": "nan-gradient",
    "the derivative for 'target' is not implemented": "no-derivative-of-target",
    "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. This "
    "input cannot have requires_grad True.": "no-derivative-of-target",
    "The function 'binary_cross_entropy' is not differentiable with respect to argument 'weight'. "
    "This input cannot have requires_grad True.": "no-derivative",
    "derivative for aten::_scaled_dot_product_efficient_attention_backward is not implemented": (
        "no-second-derivative-of-attention"
    ),
    "derivative for aten::linalg_lstsq is not implemented": "no-derivative",
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd.": "inference-saved",
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.": "inference-written",
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...),"
    " it must override the setup_context staticmethod.": "no-setup-context",
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`.": "vmap-in-place",
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
    "transforms.": "backward-in-transform",
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case.": "hooks-in-transform",
    "torch.compile with aot_autograd does not currently support double backward": (
        "compiled-second-derivative"
    ),
    "This backward function was compiled with non-empty donated buffers which requires "
    "create_graph=False and retain_graph=False.": "donated-buffers",
    "aten.mm.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
    "DTensor before calling distributed operators!": "mixed-dtensor",
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent "
    "run.": "cudagraph-overwritten",
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is "
    "not supported, please use out-of-place `.detach()` instead": "detached-in-place",
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
    "(DDP) for training, and gradient_as_bucket_view is set as True": "view-detached",
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the "
    "operation.": "shared-memory-written",
}


@pytest.mark.parametrize(("message", "entry"), RAISED.items(), ids=lambda text: text[:40])
def test_a_message_is_known_for_what_it_is(message: str, entry: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id == entry


def test_typographic_signs_and_line_breaks_change_nothing() -> None:
    found = entry_of("Can’t call numpy()\n   on Tensor that requires grad.")
    assert found is not None
    assert found.id == "numpy-of-grad"


def test_a_message_of_something_else_is_not_known() -> None:
    assert entry_of("mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)") is None
    assert entry_of("") is None


def test_a_message_that_names_the_kind_of_fault_has_a_pattern() -> None:
    kinds = {entry.kind for entry in catalogue().values() if entry.names_cause}
    assert {kind for kind in kinds if pattern_for(kind) is None} == set()


def test_every_entry_says_what_to_do() -> None:
    for entry in catalogue().values():
        assert entry.means.endswith((".", "?"))
        assert entry.texts or entry.asks or entry.kind or entry.family == "engine"
        assert all(cause.do.endswith(".") for cause in entry.causes)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"texts": ["Upper case"]}, "lower case"),
        ({"family": "graphs"}, "no such family"),
        ({"cause": []}, "it has no cause"),
        ({"surely": True}, "no such field: surely"),
        ({"threads": ["https://example.org/1"]}, "a thread is owner/repository#number"),
        ({"cause": [{"because": "`{name}` did it", "do": "stop."}]}, "has to look for it"),
        (
            {"cause": [{"because": "x", "do": "y.", "look": {"smell": 1}}]},
            "nothing looks for smell",
        ),
    ],
)
def test_an_entry_that_is_not_as_it_should_be_is_refused(
    change: dict[str, object], reported: str
) -> None:
    whole = {
        "id": "one",
        "family": "other",
        "texts": ["a text"],
        "means": "It means this.",
        "cause": [{"because": "something", "do": "do this."}],
    }
    assert read(whole, {}).causes[0].say() == "something: do this."
    with pytest.raises(CatalogueError, match=reported):
        read({**whole, **change}, {})


@pytest.mark.parametrize(
    ("saved", "again", "reported"),
    [
        ("[1, 12, 90, 64]", "[1, 12, 180, 64]", "grown"),
        ("[965, 5120]", "[964, 5120]", "other"),
        ("[2048]", "[0]", "empty"),
        ("[4, 4]", "[4, 4]", ""),
        ("[8, 2, 40]", "[64, 2]", "shifted"),
    ],
)
def test_the_shapes_of_a_recomputation_tell_what_differs(
    saved: str, again: str, reported: str
) -> None:
    message = (
        f"tensor at position 4:\nsaved metadata: {{'shape': torch.Size({saved}), 'dtype': "
        f"torch.bfloat16}}\nrecomputed metadata: {{'shape': torch.Size({again}), 'dtype': "
        "torch.bfloat16}"
    )
    assert shapes_of(message) == reported


def metadata(*pairs: tuple[str, str]) -> str:
    """The lines of a message, of pairs of `shape dtype`: saved, and recomputed."""
    reported = ["tensor at position 3:"]
    for pair in pairs:
        for which, tensor in zip(("saved", "recomputed"), pair, strict=True):
            shape, _, dtype = tensor.rpartition(" ")
            shown = f"'shape': torch.Size({shape}), 'dtype': torch.{dtype}"
            reported.append(f"{which} metadata: {{{shown}}}")
    return "\n".join(reported)


def test_tensors_of_different_operations_are_no_cache_that_grows() -> None:
    larger, smaller = ("[2, 40] half", "[64, 40] half"), ("[40, 40] half", "[2, 40] half")
    assert shapes_of(metadata(larger, larger)) == "grown"
    assert shapes_of(metadata(larger, smaller)) == "other"
    assert shapes_of(metadata(larger, ("[8, 2, 40] bool", "[64, 2] half"))) == "shifted"
    assert shapes_of(metadata(("[4] half", "[4] float"))) == "shifted"


@pytest.mark.parametrize(
    ("message", "reported"),
    [
        ("got [0, 0, 3] but expected shape compatible with [0, 16, 3]", "none-left"),
        ("got [2, 9, 5, 7] but expected shape compatible with [2, 9, 7, 5]", "permuted"),
        ("got [1, 4, 8] but expected shape compatible with [4, 8]", "another-rank"),
        ("got [3] but expected shape compatible with [1]", ""),
        ("expected shape [] but got [16, 4]", "another-rank"),
    ],
)
def test_the_shapes_of_a_gradient_tell_what_differs(message: str, reported: str) -> None:
    assert (
        shapes_of(f"Function DrawBackward returned an invalid gradient at index 2 - {message}")
        == reported
    )


def test_parameters_that_a_message_lists_are_named() -> None:
    said = (
        "Parameters which did not receive grad for rank 3: head.bias, body.0.weight\n In addition"
    )
    assert named_in(said) == ("head.bias", "body.0.weight")


def test_a_write_that_only_the_words_quote_is_shown_at_the_line_that_reads_it() -> None:
    project = Project({"a.py": "summary = torch.tanh(tokens[:, 0])\n"}, "a.py")
    error = parse("RuntimeError: x has been modified by an inplace operation")
    words = "Below it is `tokens[:, 0] = mixed`. I do not use `summary += 1`."
    first = hints(project, error, {"": words})[0]
    assert first.place is not None
    assert first.place.line == 1
    assert first.text.startswith(
        "the words quote `tokens[:, 0] = mixed`, where `tokens` is changed"
    )
    assert not any("summary" in hint.text for hint in hints(project, error, {"": words}))


def test_a_setting_is_found_however_it_is_written() -> None:
    texts = {
        "a.yaml": "training:\n  use_reentrant: true\n",
        "b.json": '{"use_reentrant": true}',
        "c.sh": "torchrun train.py --gradient_checkpointing \\\n  --bf16",
        "d.py": "Args(gradient_checkpointing = True)",
        "e.py": "# gradient_checkpointing_steps=3",
    }
    wanted = ["use_reentrant=true", "gradient_checkpointing=true"]
    found = {(path, line): name for path, line, name, _ in settings_in(texts, wanted)}
    assert found["b.json", 1] == "use_reentrant: true"
    assert found.keys() == {("a.yaml", 2), ("b.json", 1), ("c.sh", 1), ("d.py", 1)}


def test_a_single_cause_is_said_in_general_where_no_line_shows_it() -> None:
    project = Project({"a.py": "x = torch.rand(3)\n"}, "a.py")
    error = parse("RuntimeError: vmap: called random operation while in randomness error mode")
    (hint,) = hints(project, error)
    assert hint.usual
    assert hint.place is None
    assert '`randomness="different"`' in hint.text
    shown, *_ = hints(Project({"a.py": "rows = vmap(draw)(x)\n"}, "a.py"), error)
    assert shown.place is not None


def test_every_message_has_a_cause_that_needs_no_line() -> None:
    causes = {entry.id: entry.causes for entry in catalogue().values()}
    without = [name for name, all_ in causes.items() if all(cause.look for cause in all_)]
    assert [name for name in without if len(causes[name]) > 1] == []
