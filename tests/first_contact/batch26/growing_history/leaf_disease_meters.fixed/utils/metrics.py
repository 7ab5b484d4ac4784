import torch


def accuracy(output, target, topk=(1,)):
    """Accuracy over the k top predictions, in percent."""
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand(maxk, -1))
        return [correct[:k].reshape(-1).float().sum() * (100.0 / target.size(0)) for k in topk]
