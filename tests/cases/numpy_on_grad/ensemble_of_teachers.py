# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = m, self.models, models
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


class Ensemble:
    """Averages the students' logits, written with numpy."""

    def __init__(self, models):
        self.models = models

    def logits(self, x):
        return np.mean([m(x) for m in self.models], axis=0)  # expect: place


def distill(student, ensemble, batches, T=2.0):
    opt = torch.optim.Adam(student.parameters(), lr=1e-3)
    for x in batches:
        soft = torch.from_numpy(ensemble.logits(x))
        loss = F.kl_div(F.log_softmax(student(x) / T, -1), F.softmax(soft / T, -1), reduction="batchmean") * T * T
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())


torch.manual_seed(0)
teachers = [nn.Linear(6, 4) for _ in range(3)]
distill(nn.Linear(6, 4), Ensemble(teachers), [torch.randn(8, 6) for _ in range(3)])
