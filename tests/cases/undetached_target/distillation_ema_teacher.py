# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = teacher_logits, small_logits, big_logits, soft, target
# Mutual distillation: each of two peers learns from the other's soft labels.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(60)
T = 2.0


def make_peer(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 4))


big, small = make_peer(24), make_peer(8)
opt_big = torch.optim.SGD(big.parameters(), lr=0.1)
opt_small = torch.optim.SGD(small.parameters(), lr=0.1)


def kd(student_logits, teacher_logits):
    soft = F.softmax(teacher_logits / T, dim=1)  # expect: place
    return F.kl_div(F.log_softmax(student_logits / T, dim=1), soft, reduction="batchmean") * T * T


for it in range(3):
    x = torch.randn(12, 8)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    big_logits, small_logits = big(x), small(x)  # expect: place
    loss_big = F.cross_entropy(big_logits, y) + kd(big_logits, small_logits)  # expect: place
    loss_small = F.cross_entropy(small_logits, y) + kd(small_logits, big_logits)
    opt_big.zero_grad()
    opt_small.zero_grad()
    loss_big.backward()
    loss_small.backward()  # expect: place
    opt_big.step()
    opt_small.step()
