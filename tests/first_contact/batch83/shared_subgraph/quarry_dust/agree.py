"""Gradients of the shared weights go through where most objectives pull the same way."""
import torch


def taken_apart(model, objectives):
    shared = list(model.mast.parameters())
    pulls = []
    for name, loss in objectives:  # expect: place
        own = list(model.tells[name].parameters())
        slopes = torch.autograd.grad(loss, shared + own)  # expect: place
        pulls.append(slopes[: len(shared)])
        for weight, slope in zip(own, slopes[len(shared) :]):
            weight.grad = slope
    return shared, pulls


def walk_agreed(model, objectives):
    shared, pulls = taken_apart(model, objectives)  # expect: place
    for weight, slopes in zip(shared, zip(*pulls)):
        slopes = torch.stack(slopes)
        way = slopes.sign().sum(0).sign()
        weight.grad = torch.where(slopes.sign() == way, slopes, 0.0).sum(0)
