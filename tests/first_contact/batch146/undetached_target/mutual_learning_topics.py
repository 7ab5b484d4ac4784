# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = peer_logits, target, logits_a, logits_b, logits, loss_a, loss_b
# Deep mutual learning: a bag-of-words net and a small CNN teach each other on topic labels.
import math
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = SimpleNamespace(
    vocab=120, topics=5, seq_len=18, emb=16, n_train=320, n_test=160,
    batch=32, epochs=2, lr_a=0.01, lr_b=0.005, T=2.0, alpha=0.7, seed=99,
)


def synth_corpus(n, topic_words):
    y = torch.randint(cfg.topics, (n,))
    noise = torch.randint(1, cfg.vocab, (n, cfg.seq_len))
    pick = torch.randint(topic_words.size(1), (n, cfg.seq_len))
    own = topic_words[y].gather(1, pick)
    x = torch.where(torch.rand(n, cfg.seq_len) < 0.35, own, noise)
    return x, y


def iterate(x, y, shuffle=True):
    order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
    for i in range(0, len(x), cfg.batch):
        idx = order[i:i + cfg.batch]
        yield x[idx], y[idx]


class BowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(cfg.vocab, cfg.emb, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(cfg.emb, 24), nn.ReLU(), nn.Linear(24, cfg.topics))

    def forward(self, x):
        return self.mlp(self.bag(x))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.emb)
        self.convs = nn.ModuleList(nn.Conv1d(cfg.emb, 12, k, padding=k // 2) for k in (3, 5))
        self.out = nn.Linear(24, cfg.topics)

    def forward(self, x):
        e = self.emb(x).transpose(1, 2)
        pooled = [F.relu(conv(e)).amax(dim=2) for conv in self.convs]
        return self.out(torch.cat(pooled, dim=1))


def mimicry(logits, peer_logits):
    log_p = F.log_softmax(logits / cfg.T, dim=1)
    target = F.softmax(peer_logits / cfg.T, dim=1)  # expect: place
    return F.kl_div(log_p, target, reduction="batchmean") * cfg.T ** 2  # expect: place


def dml_losses(logits_a, logits_b, y):
    loss_a = (1 - cfg.alpha) * F.cross_entropy(logits_a, y) + cfg.alpha * mimicry(logits_a, logits_b)  # expect: place
    loss_b = (1 - cfg.alpha) * F.cross_entropy(logits_b, y) + cfg.alpha * mimicry(logits_b, logits_a)  # expect: place
    return loss_a, loss_b


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        hits = sum((net(bx).argmax(1) == by).sum().item() for bx, by in iterate(x, y, shuffle=False))
    net.train()
    return hits / len(x)


def warmup(step, total=6):
    return min(1.0, (step + 1) / total)


torch.manual_seed(cfg.seed)
topic_words = torch.stack([torch.randperm(cfg.vocab - 1)[:12] + 1 for _ in range(cfg.topics)])
x_train, y_train = synth_corpus(cfg.n_train, topic_words)
x_test, y_test = synth_corpus(cfg.n_test, topic_words)

net_a, net_b = BowNet(), ConvNet()
opt_a = torch.optim.Adam(net_a.parameters(), lr=cfg.lr_a)
opt_b = torch.optim.Adam(net_b.parameters(), lr=cfg.lr_b)
sched_a = torch.optim.lr_scheduler.LambdaLR(opt_a, warmup)
sched_b = torch.optim.lr_scheduler.LambdaLR(opt_b, warmup)

n_batches = math.ceil(cfg.n_train / cfg.batch)
for epoch in range(cfg.epochs):
    sum_a = sum_b = 0.0
    for x, y in iterate(x_train, y_train):
        logits_a = net_a(x)
        logits_b = net_b(x)
        loss_a, loss_b = dml_losses(logits_a, logits_b, y)

        opt_a.zero_grad()
        loss_a.backward()  # expect: place
        opt_a.step()
        sched_a.step()

        opt_b.zero_grad()
        loss_b.backward()  # expect: place
        opt_b.step()
        sched_b.step()

        sum_a += loss_a.item()
        sum_b += loss_b.item()
    print("epoch", epoch, "bow %.4f" % (sum_a / n_batches), "cnn %.4f" % (sum_b / n_batches),
          "test", accuracy(net_a, x_test, y_test), accuracy(net_b, x_test, y_test))
