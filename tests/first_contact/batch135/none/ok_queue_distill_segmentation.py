# expect: pattern = none
# expect: raises = nothing
"""Semi-supervised segmentation: mean teacher, a pixel-contrast feature queue, and
a loss balance taken from the gradient norms at the last shared layer."""
import argparse
import copy
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=3)
    p.add_argument("--width", type=int, default=10)
    p.add_argument("--proj", type=int, default=8)
    p.add_argument("--size", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=3)
    p.add_argument("--queue", type=int, default=4)
    p.add_argument("--temperature", type=float, default=0.2)
    p.add_argument("--ema", type=float, default=0.95)
    p.add_argument("--threshold", type=float, default=0.4)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--seed", type=int, default=21)
    return p.parse_args([])


class ConvBlock(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(inplace=True))


class SegNet(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.stem = ConvBlock(1, args.width)
        self.body = ConvBlock(args.width, args.width)
        self.shared = nn.Conv2d(args.width, args.width, 1)
        self.classifier = nn.Conv2d(args.width, args.classes, 1)
        self.projector = nn.Conv2d(args.width, args.proj, 1)

    def forward(self, x):
        h = self.stem(x)
        h = self.shared(self.body(h) + h)
        return self.classifier(h), F.normalize(self.projector(h), dim=1)


class MeanTeacher:
    def __init__(self, student, decay):
        self.model = copy.deepcopy(student).eval()
        self.model.requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, student, step):
        decay = min(self.decay, 1 - 1 / (step + 1))
        for t, s in zip(self.model.parameters(), student.parameters()):
            t.mul_(decay).add_(s, alpha=1 - decay)

    @torch.no_grad()
    def pseudo_labels(self, x, threshold):
        conf, label = self.model(x)[0].softmax(1).max(1)
        label[conf < threshold] = -1
        return label


class FeatureQueue:
    """Class prototypes of the last batches; they are constants for the loss."""

    def __init__(self, args):
        self.items = deque(maxlen=args.queue)
        self.classes, self.temperature = args.classes, args.temperature

    def push(self, feats, labels):
        onehot = F.one_hot(labels.clamp(min=0), self.classes).float()
        onehot[labels < 0] = 0
        proto = torch.einsum("bchw,bhwk->kc", feats.detach(), onehot)
        self.items.append(F.normalize(proto, dim=1))

    def loss(self, feats, labels):
        if not self.items:
            return feats.sum() * 0.0
        protos = F.normalize(torch.stack(list(self.items)).mean(0), dim=1)
        logits = torch.einsum("bchw,kc->bkhw", feats, protos) / self.temperature
        return F.cross_entropy(logits, labels, ignore_index=-1)


class DiceLoss(nn.Module):
    def forward(self, logits, labels):
        prob = logits.softmax(1)
        target = F.one_hot(labels, logits.size(1)).permute(0, 3, 1, 2).float()
        inter = (prob * target).sum((0, 2, 3))
        return 1 - ((2 * inter + 1) / (prob.sum((0, 2, 3)) + target.sum((0, 2, 3)) + 1)).mean()


class GradBalance:
    """Scales the auxiliary loss so that its gradient is as long as that of the main one."""

    def __init__(self, layer, momentum=0.8):
        self.weight, self.momentum, self.layer = 1.0, momentum, layer

    def __call__(self, main, aux):
        g_main, = torch.autograd.grad(main, self.layer.weight, retain_graph=True)
        g_aux, = torch.autograd.grad(aux, self.layer.weight, retain_graph=True)
        ratio = (g_main.norm() / (g_aux.norm() + 1e-6)).clamp(max=2.0).item()
        self.weight = self.momentum * self.weight + (1 - self.momentum) * ratio
        return main + self.weight * aux


def scenes(args, gen):
    """Images with one bright and one dark square on a textured background."""
    b, n = args.batch_size, args.size
    labels = torch.zeros(b, n, n, dtype=torch.long)
    for i in range(b):
        for c in range(1, args.classes):
            y, x = torch.randint(0, n - 4, (2,), generator=gen).tolist()
            labels[i, y:y + 4, x:x + 4] = c
    images = 0.3 * torch.randn(b, 1, n, n, generator=gen)
    images += (labels.unsqueeze(1) == 1) * 1.0
    images -= (labels.unsqueeze(1) == 2) * 1.0
    return images, labels


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    student = SegNet(args)
    teacher = MeanTeacher(student, args.ema)
    queue, balance, dice = FeatureQueue(args), GradBalance(student.shared), DiceLoss()
    optimizer = torch.optim.SGD(student.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, args.steps // args.accumulate, power=0.9)
    running, best, best_state = 0.0, float("inf"), None

    optimizer.zero_grad()
    for step in range(args.steps):
        labelled, labels = scenes(args, gen)
        unlabelled, _ = scenes(args, gen)
        pseudo = teacher.pseudo_labels(unlabelled, args.threshold)
        noisy = unlabelled + 0.2 * torch.randn(unlabelled.shape, generator=gen)

        logits, feats = student(torch.cat([labelled, noisy]))
        sup, unsup = logits.split(args.batch_size)
        targets = torch.cat([labels, pseudo])
        main_loss = F.cross_entropy(sup, labels) + dice(sup, labels)
        consistency = F.cross_entropy(unsup, pseudo, ignore_index=-1, reduction="sum") / pseudo.ge(0).sum().clamp(min=1)
        aux_loss = consistency + queue.loss(feats, targets)
        loss = balance(main_loss, aux_loss)
        (loss / args.accumulate).backward()
        queue.push(feats, targets)

        if (step + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            teacher.update(student, step)
        running = 0.9 * running + 0.1 * main_loss.item()
        if main_loss.item() < best:
            best, best_state = main_loss.item(), copy.deepcopy(student.state_dict())
        print(f"step {step} main {main_loss.item():.4f} aux {aux_loss.item():.4f} weight {balance.weight:.3f}")
    print(f"running {running:.4f} best {best:.4f} tensors {len(best_state)}")


if __name__ == "__main__":
    main()
