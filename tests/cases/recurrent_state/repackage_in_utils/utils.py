import torch


def batchify(tokens, batch_size):
    length = tokens.size(0) // batch_size
    return tokens[: length * batch_size].view(batch_size, length).t().contiguous()


def repackage_hidden(h):
    """Cut the state off from the batches before it."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    if isinstance(h, list):
        return [repackage_hidden(v) for v in h]
    return h  # expect: place
