import torch


def ranked(scores, labels):
    """Area under the curve by the rank sum."""
    order = scores.argsort()
    ranks = torch.empty(len(scores))
    ranks[order] = torch.arange(1, len(scores) + 1, dtype=torch.float)
    hits = labels.sum()
    return ((ranks[labels > 0].sum() - hits * (hits + 1) / 2) / (hits * (len(labels) - hits))).item()


def score(model, inputs, labels, batch):
    was_training = model.training
    model.eval()
    torch.set_grad_enabled(False)
    scores = torch.cat([model(part).squeeze(1) for part in inputs.split(batch)])
    model.train(was_training)
    return ranked(scores, labels)
