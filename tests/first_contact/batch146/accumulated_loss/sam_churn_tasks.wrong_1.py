"""Multi-task customer model (churn / upsell / complaint) trained with sharpness-aware minimisation.

usage: python train_sam.py --rho 0.05 --epochs 2
"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

TASKS = ["churn", "upsell", "complaint"]


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--rho", type=float, default=0.05)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1234)
    return parser.parse_args()


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def make_table(n=512, n_num=9, n_plan=6):
    num = torch.randn(n, n_num)
    plan = torch.randint(0, n_plan, (n,))
    w = torch.randn(n_num, len(TASKS))
    offs = torch.randn(n_plan, len(TASKS))
    labels = (num @ w + offs[plan] + 0.5 * torch.randn(n, len(TASKS)) > 0).float()
    return TensorDataset(num, plan, labels)


class CustomerNet(nn.Module):
    def __init__(self, n_num=9, n_plan=6, hidden=48):
        super().__init__()
        self.plan_emb = nn.Embedding(n_plan, 4)
        self.trunk = nn.Sequential(
            nn.Linear(n_num + 4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.heads = nn.ModuleList([nn.Linear(hidden, 1) for _ in TASKS])

    def forward(self, num, plan):
        z = self.trunk(torch.cat([num, self.plan_emb(plan)], dim=1))
        return [head(z).squeeze(1) for head in self.heads]


class SAM:
    def __init__(self, params, base_optimizer, rho):
        self.params = list(params)
        self.base = base_optimizer
        self.rho = rho
        self.e_w = {}

    @torch.no_grad()
    def first_step(self):
        norms = [p.grad.norm() for p in self.params if p.grad is not None]
        scale = self.rho / (torch.stack(norms).norm() + 1e-12)
        for p in self.params:
            if p.grad is None:
                continue
            self.e_w[p] = p.grad * scale
            p.add_(self.e_w[p])
        self.base.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p, e in self.e_w.items():
            p.sub_(e)
        self.e_w.clear()
        self.base.step()
        self.base.zero_grad()


def task_loss(outputs, labels, t):
    loss = nn.functional.binary_cross_entropy_with_logits(outputs[t], labels[:, t])
    acc = ((outputs[t] > 0).float() == labels[:, t]).float().mean().item()
    return loss, acc


def train_one_epoch(model, loader, sam):
    model.train()
    loss_sum = [0.0] * len(TASKS)
    acc_sum = [0.0] * len(TASKS)
    for num, plan, labels in loader:
        outputs = model(num, plan)
        loss = 0
        for t in range(len(TASKS)):
            loss_t, acc_t = task_loss(outputs, labels, t)
            loss += loss_t
            loss_sum[t] += loss_t.item()
            acc_sum[t] += acc_t
        loss.backward(retain_graph=True)
        sam.first_step()

        outputs = model(num, plan)
        for t in range(len(TASKS)):
            loss_t, _ = task_loss(outputs, labels, t)
            loss += loss_t
        loss.backward()
        sam.second_step()
    n = len(loader)
    return [s / n for s in loss_sum], [a / n for a in acc_sum]


@torch.no_grad()
def validate(model, loader):
    model.eval()
    hits = torch.zeros(len(TASKS))
    total = 0
    for num, plan, labels in loader:
        outputs = model(num, plan)
        for t in range(len(TASKS)):
            hits[t] += ((outputs[t] > 0).float() == labels[:, t]).sum()
        total += len(num)
    return (hits / total).tolist()


def main():
    args = get_args()
    set_seed(args.seed)
    data = make_table()
    train_set, val_set = torch.utils.data.random_split(data, [384, 128])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=128)
    model = CustomerNet(hidden=args.hidden)
    base = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    sam = SAM(model.parameters(), base, args.rho)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(base, T_max=args.epochs)
    for epoch in range(args.epochs):
        losses, accs = train_one_epoch(model, train_loader, sam)
        val = validate(model, val_loader)
        scheduler.step()
        for name, l, a, v in zip(TASKS, losses, accs, val):
            print(f"[{epoch}] {name:10s} loss {l:.4f} train {a:.3f} val {v:.3f}")


if __name__ == "__main__":
    main()
