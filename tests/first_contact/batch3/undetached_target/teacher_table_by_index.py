# expect: pattern = undetached-target
# expect: also = stored-graph, forward-outside-loop, derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = table, self.table, logits, wanted
"""Distillation on a fixed transfer set: what the teacher says about it is kept in a table."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width, depth=2, classes=5):
        super().__init__()
        dims = [10] + [width] * depth
        self.body = nn.Sequential(*[layer for a, b in zip(dims, dims[1:])
                                    for layer in (nn.Linear(a, b), nn.ReLU())])
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        return self.out(self.body(x))


def transfer_set(n=64):
    x = torch.randn(n, 10)
    y = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    return x, y


def pretrain(net, x, y, epochs=15):
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for _ in range(epochs):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    return net


def kd_loss(student_logits, teacher_logits, y, T=3.0, mix=0.7):
    soft = F.kl_div(F.log_softmax(student_logits / T, 1), F.softmax(teacher_logits / T, 1),
                    reduction="batchmean") * T * T
    return mix * soft + (1 - mix) * F.cross_entropy(student_logits, y)


class Distiller:
    def __init__(self, teacher, student, x, y):
        self.student = student
        teacher.eval()
        self.table = {}
        for start in range(0, len(x), 16):
            ids = torch.arange(start, start + 16)
            logits = teacher(x[ids])  # expect: place
            self.table.update({i: row for i, row in zip(ids.tolist(), logits)})  # expect: place
        self.loader = DataLoader(TensorDataset(torch.arange(len(x)), x, y), batch_size=16, shuffle=True)
        self.opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)

    def run(self, epochs):
        for epoch in range(epochs):
            for ids, x, y in self.loader:
                wanted = torch.stack([self.table[i] for i in ids.tolist()])  # expect: place
                loss = kd_loss(self.student(x), wanted, y)
                self.opt.zero_grad()
                loss.backward()  # expect: place
                self.opt.step()
            yield epoch, loss.item()


def main():
    torch.manual_seed(101)
    x, y = transfer_set()
    teacher = pretrain(Net(48), x, y)
    for epoch, loss in Distiller(teacher, Net(8, depth=1), x, y).run(3):
        print(epoch, f"{loss:.4f}")


if __name__ == "__main__":
    main()
