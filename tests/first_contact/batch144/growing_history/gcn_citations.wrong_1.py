"""Two-layer GCN for node classification, in functions and without a graph library."""
import math

import torch
import torch.nn.functional as F


def citation_graph(n=150, n_classes=5, n_words=40, p_in=0.08, p_out=0.008):
    labels = torch.randint(0, n_classes, (n,))
    same = labels[:, None] == labels[None, :]
    prob = torch.where(same, torch.tensor(p_in), torch.tensor(p_out))
    upper = torch.triu(torch.rand(n, n) < prob, diagonal=1).float()
    topics = torch.rand(n_classes, n_words) ** 4
    words = (torch.rand(n, n_words) < 0.7 * topics[labels]).float()
    return words, upper + upper.t(), labels


def normalize(adj):
    adj = adj + torch.eye(len(adj))
    d = adj.sum(dim=1).rsqrt()
    return d[:, None] * adj * d[None, :]


def glorot(fan_in, fan_out):
    bound = math.sqrt(6.0 / (fan_in + fan_out))
    return torch.empty(fan_in, fan_out).uniform_(-bound, bound).requires_grad_()


def init(n_in, n_hidden, n_out):
    return {
        "w1": glorot(n_in, n_hidden),
        "b1": torch.zeros(n_hidden, requires_grad=True),
        "w2": glorot(n_hidden, n_out),
        "b2": torch.zeros(n_out, requires_grad=True),
    }


def gcn(theta, adj, x, p_drop=0.0, training=False):
    x = F.dropout(x, p_drop, training)
    h = F.relu(adj @ (x @ theta["w1"]) + theta["b1"])
    h = F.dropout(h, p_drop, training)
    return adj @ (h @ theta["w2"]) + theta["b2"]


def split(n, n_train=50, n_val=40):
    order = torch.randperm(n)
    return order[:n_train], order[n_train:n_train + n_val], order[n_train + n_val:]


def accuracy(logits, labels):
    return (logits.argmax(dim=1) == labels).float().mean().item()


class SmoothedValue:
    """Exponential moving average with bias correction."""

    def __init__(self, beta=0.9):
        self.beta = beta
        self.value = 0.0
        self.count = 0

    def update(self, x):
        self.count += 1
        self.value = self.beta * self.value + (1 - self.beta) * x

    @property
    def corrected(self):
        return self.value / (1 - self.beta ** self.count)


def train(theta, graph, n_epochs=80, lr=0.02, weight_decay=5e-4):
    x, adj, labels = graph
    idx_train, idx_val, idx_test = split(len(labels))
    optimizer = torch.optim.Adam(
        [
            {"params": [theta["w1"], theta["b1"]], "weight_decay": weight_decay},
            {"params": [theta["w2"], theta["b2"]], "weight_decay": 0.0},
        ],
        lr=lr,
    )
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=5)
    smooth = SmoothedValue()
    best_val, best_test = 0.0, 0.0
    for epoch in range(n_epochs):
        logits = gcn(theta, adj, x, p_drop=0.5, training=True)
        loss = F.cross_entropy(logits[idx_train], labels[idx_train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth.update(loss)
        scheduler.step(smooth.corrected.item())

        with torch.no_grad():
            logits = gcn(theta, adj, x)
        val = accuracy(logits[idx_val], labels[idx_val])
        if val > best_val:
            best_val, best_test = val, accuracy(logits[idx_test], labels[idx_test])
        if epoch % 20 == 0:
            print(f"{epoch:3d} loss {smooth.corrected:.4f} val {val:.3f}")
    return best_val, best_test


def main():
    torch.manual_seed(19)
    words, adj, labels = citation_graph()
    x = words / words.sum(dim=1, keepdim=True).clamp(min=1)
    theta = init(x.size(1), 16, int(labels.max()) + 1)
    val, test = train(theta, (x, normalize(adj), labels))
    print(f"best val {val:.3f}, test {test:.3f}")


if __name__ == "__main__":
    main()
