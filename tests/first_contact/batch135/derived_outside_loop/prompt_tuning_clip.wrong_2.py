"""Few-shot prompt tuning of a frozen two-tower model: only the context vectors and
a small image adapter are trained."""
import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def build_config(argv=()):
    p = argparse.ArgumentParser()
    p.add_argument("--n-ctx", type=int, default=4)
    p.add_argument("--classes", type=int, default=6)
    p.add_argument("--shots", type=int, default=8)
    p.add_argument("--width", type=int, default=16)
    p.add_argument("--embed-dim", type=int, default=12)
    p.add_argument("--image-dim", type=int, default=20)
    p.add_argument("--vocab", type=int, default=40)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.5)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--warmup-epochs", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args(list(argv))


class TextTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.token_embedding = nn.Embedding(cfg.vocab, cfg.width)
        self.position = nn.Parameter(0.02 * torch.randn(16, cfg.width))
        layer = nn.TransformerEncoderLayer(cfg.width, 2, 2 * cfg.width, dropout=0.0, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.proj = nn.Linear(cfg.width, cfg.embed_dim, bias=False)

    def forward(self, prompts):
        x = self.transformer(prompts + self.position[: prompts.size(1)])
        return self.proj(x[:, -1])


class ImageTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.image_dim, 32), nn.GELU(), nn.Linear(32, cfg.embed_dim))

    def forward(self, images):
        return self.net(images)


class PromptLearner(nn.Module):
    def __init__(self, cfg, token_embedding, class_tokens):
        super().__init__()
        self.ctx = nn.Parameter(0.02 * torch.randn(cfg.n_ctx, cfg.width))
        with torch.no_grad():
            embedded = token_embedding(class_tokens)
        self.register_buffer("suffix", embedded)

    def forward(self):
        ctx = self.ctx.unsqueeze(0).expand(self.suffix.size(0), -1, -1)
        return torch.cat([ctx, self.suffix], dim=1)


class PromptedCLIP(nn.Module):
    def __init__(self, cfg, class_tokens):
        super().__init__()
        self.text = TextTower(cfg)
        self.image = ImageTower(cfg)
        for p in [*self.text.parameters(), *self.image.parameters()]:
            p.requires_grad_(False)
        self.prompts = PromptLearner(cfg, self.text.token_embedding, class_tokens)
        self.adapter = nn.Linear(cfg.embed_dim, cfg.embed_dim)
        self.logit_scale = math.exp(2.0)

    def encode_classes(self):
        return F.normalize(self.text(self.prompts()), dim=-1)

    def encode_image(self, images):
        feat = self.image(images)
        return F.normalize(feat + 0.2 * self.adapter(feat), dim=-1)

    def forward(self, images, text_features):
        return self.logit_scale * self.encode_image(images) @ text_features.t()


class AverageMeter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(self.n, 1)


class FewShotLoader:
    def __init__(self, cfg, generator):
        centers = torch.randn(cfg.classes, cfg.image_dim, generator=generator)
        self.labels = torch.arange(cfg.classes).repeat_interleave(cfg.shots)
        noise = torch.randn(len(self.labels), cfg.image_dim, generator=generator)
        self.images = centers[self.labels] + 0.5 * noise
        self.batch_size, self.generator = cfg.batch_size, generator

    def __len__(self):
        return math.ceil(len(self.labels) / self.batch_size)

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.generator)
        for idx in order.split(self.batch_size):
            yield self.images[idx], self.labels[idx]


def make_scheduler(optimizer, cfg):
    def factor(epoch):
        if epoch < cfg.warmup_epochs:
            return 0.2
        return 0.5 * (1 + math.cos(math.pi * epoch / cfg.epochs))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def train_one_epoch(model, loader, optimizer):
    losses, top1 = AverageMeter(), AverageMeter()
    # the class names are the same for every image, so encode them once per epoch
    text_features = model.encode_classes().detach()
    for images, labels in loader:
        logits = model(images, text_features)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), len(labels))
        top1.update((logits.argmax(1) == labels).float().mean().item(), len(labels))
    return losses.avg, top1.avg


def main():
    cfg = build_config()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    class_tokens = torch.randint(0, cfg.vocab, (cfg.classes, 3), generator=generator)
    model = PromptedCLIP(cfg, class_tokens)
    loader = FewShotLoader(cfg, generator)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=cfg.lr, momentum=cfg.momentum)
    scheduler = make_scheduler(optimizer, cfg)
    best, best_ctx = 0.0, None
    for epoch in range(cfg.epochs):
        loss, acc = train_one_epoch(model, loader, optimizer)
        scheduler.step()
        if acc > best:
            best, best_ctx = acc, copy.deepcopy(model.prompts.state_dict())
        print(f"epoch {epoch} loss {loss:.4f} acc {acc:.3f}")
    print("best", round(best, 3), tuple(best_ctx["ctx"].shape))


if __name__ == "__main__":
    main()
