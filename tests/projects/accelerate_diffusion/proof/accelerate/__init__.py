import torch


class Accelerator:
    def __init__(self, **kwargs):
        pass

    def prepare(self, *args):
        return args

    def backward(self, loss):
        loss.backward()

    def clip_grad_norm_(self, parameters, norm):
        torch.nn.utils.clip_grad_norm_(parameters, norm)
