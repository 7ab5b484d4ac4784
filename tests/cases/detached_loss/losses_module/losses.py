import torch


@torch.no_grad()  # expect: place
def intersection_and_union(prediction, target):
    intersection = (prediction * target).sum(dim=(1, 2, 3))
    union = (prediction + target - prediction * target).sum(dim=(1, 2, 3))
    return intersection, union


def iou_loss(prediction, target, eps=1e-6):
    intersection, union = intersection_and_union(prediction, target)  # expect: place
    return 1 - ((intersection + eps) / (union + eps)).mean()
