"""What an autograd node saves for its backward, by the name of the operation.

The facts are those of PyTorch's `tools/autograd/derivatives.yaml`: a formula that mentions `self`,
`other` or `result` saves that tensor. A node that saves nothing can be walked any number of times;
one that saves something raises on the second walk.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Op:
    """`saves`: yes, no, or None for unknown. `inputs`, `result`: which tensors are kept, where
    that is certain enough to tell a stale one."""

    saves: bool | None
    inputs: bool = False
    result: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# Linear in each input: an input is saved for the others' gradients, where these have any.
BILINEAR = words("mul multiply matmul mm bmm mv dot outer inner ger div divide true_divide")
NOTHING = Op(saves=False)
SOMETHING = Op(saves=True)
UNKNOWN = Op(saves=None)
INPUTS = Op(saves=True, inputs=True)
RESULT = Op(saves=True, result=True)
BOTH = Op(saves=True, inputs=True, result=True)

_SAVE_NOTHING = """
    add sub rsub neg sum mean view view_as reshape reshape_as flatten unflatten ravel
    transpose permute t mT T swapaxes swapdims movedim moveaxis squeeze unsqueeze expand expand_as
    broadcast_to clone contiguous cat concat concatenate stack hstack vstack dstack column_stack
    chunk split tensor_split unbind unfold narrow select diagonal diag diag_embed trace tril triu
    flip fliplr flipud rot90 roll repeat tile cumsum to cpu cuda xpu double float half bfloat16
    type type_as real imag pad adaptive_avg_pool1d adaptive_avg_pool2d interpolate upsample
    meshgrid sign round floor ceil trunc fill add_ sub_ copy_ fill_ zero_ H adjoint
    pixel_shuffle fold slice identity all_reduce
"""
_SAVE_INPUTS = """
    mul multiply div divide true_divide pow square matmul mm bmm mv dot outer einsum inner ger
    baddbmm addmm addmv addcmul addcdiv log log2 log10 log1p sin cos abs relu6 silu gelu mish
    softplus elu leaky_relu hardtanh clamp clamp_min clamp_max var maximum
    minimum atan atan2 lerp mse_loss smooth_l1_loss huber_loss cosine_similarity
    binary_cross_entropy binary_cross_entropy_with_logits kl_div logsigmoid
    linear conv1d conv2d conv3d conv_transpose2d layer_norm batch_norm
"""
_SAVE_RESULT = """
    relu tanh sigmoid exp expm1 sqrt rsqrt softmax log_softmax reciprocal
"""
_SAVE_BOTH = "logsumexp norm linalg_norm std prod cumprod cdist dist"
_SAVE_SOMETHING = """
    where gather index_select masked_fill masked_select scatter scatter_add index_add index_copy
    index_put take take_along_dim embedding embedding_bag dropout dropout2d alpha_dropout max min
    amax amin median mode sort topk kthvalue cummax cummin cross_entropy nll_loss max_pool1d
    max_pool2d max_pool3d avg_pool2d glu prelu det logdet inverse cholesky solve svd eigh qr
    normalize group_norm instance_norm lstm gru rnn scaled_dot_product_attention grid_sample
    triplet_margin_loss margin_ranking_loss ctc_loss gaussian_nll_loss poisson_nll_loss fft ifft
    lerp_ cross kron logaddexp hypot erf erfinv digamma lgamma sinh cosh tan asin acos
    sinc threshold hardsigmoid hardswish selu celu softmin gumbel_softmax softsign
    tanhshrink cosine_embedding_loss hinge_embedding_loss multi_margin_loss bilinear
    multi_head_attention_forward index remainder fmod l1_loss nanmean
"""


def _table() -> dict[str, Op]:
    table = dict.fromkeys(_SAVE_SOMETHING.split(), SOMETHING)
    table |= dict.fromkeys(_SAVE_INPUTS.split(), INPUTS)
    table |= dict.fromkeys(_SAVE_RESULT.split(), RESULT)
    table |= dict.fromkeys(_SAVE_BOTH.split(), BOTH)
    return table | dict.fromkeys(_SAVE_NOTHING.split(), NOTHING)


_OPS = _table()

# Results without a graph, whatever goes in.
NO_GRAPH = words(
    """
    argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite is_nonzero equal allclose all
    any size dim numel nelement ndimension stride storage_offset data_ptr element_size
    is_contiguous zeros_like ones_like rand_like randn_like empty_like full_like
    randint_like bernoulli multinomial nonzero count_nonzero bincount histc searchsorted
    bucketize one_hot logical_and logical_or logical_not logical_xor isclose signbit
    long int short byte bool char new_zeros new_ones new_full new_empty new_tensor
    get_device is_floating_point argwhere numpy_version
    """
)

# Those among them whose results are indices, which scripts compute with as if they were values.
INDICES = frozenset({"argmax", "argmin", "argsort"})

# Tensors that are made of sizes, numbers or data.
FACTORIES = words(
    """
    zeros ones empty full rand randn randint arange linspace eye randperm normal tensor
    as_tensor from_numpy zeros_like ones_like rand_like randn_like empty_like full_like
    FloatTensor Tensor LongTensor scalar_tensor logspace multinomial bernoulli
    DoubleTensor sparse_coo_tensor Variable
    """
)

# Distributions that cannot be sampled with a gradient; most have nothing between two values.
NO_RSAMPLE = words(
    """
    Bernoulli Binomial Categorical Geometric LKJCholesky MixtureSameFamily Multinomial
    NegativeBinomial OneHotCategorical Poisson VonMises
    """
)

# In-place methods whose names do not end in an underscore are none; these end in one and write.
VIEWS = words(
    """
    view view_as reshape transpose permute t T mT squeeze unsqueeze expand expand_as
    narrow select diagonal detach flatten swapaxes movedim chunk split unbind unfold
    real imag slice
    """
)
MULTI_VIEWS = frozenset({"chunk", "split", "unbind", "tensor_split"})

# Reductions that yield a scalar when no dimension is named.
REDUCTIONS = words(
    """
    sum mean prod max min norm std var median logsumexp amax amin nanmean trace dot dist
    """
)
LOSSES = words(
    """
    mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss
    binary_cross_entropy binary_cross_entropy_with_logits kl_div cosine_embedding_loss
    hinge_embedding_loss ctc_loss margin_ranking_loss triplet_margin_loss
    gaussian_nll_loss poisson_nll_loss multi_margin_loss
    """
)


def op(name: str) -> Op:
    """What the named operation saves; in-place names are those of their plain form."""
    known = _OPS.get(name)
    if known is None and name.endswith("_"):
        known = _OPS.get(name[:-1])
    return known or UNKNOWN
