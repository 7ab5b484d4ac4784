import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)

# activity recognition: phones of the old model are labelled, those of the new one are not


def sample_domain(n, shift, gain):
    y = torch.randint(0, 3, (n,))
    centers = torch.tensor([[1.0, 0, 0, 1, 0, 0], [0, 1.0, 0, 0, 1, 0], [0, 0, 1.0, 0, 0, 1]])
    x = gain * (2 * centers[y] + 0.6 * torch.randn(n, 6)) + shift
    return x, y


source_x, source_y = sample_domain(256, 0.0, 1.0)
target_x, target_y = sample_domain(256, 0.8, 1.3)

encoder = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 12), nn.ReLU())
classifier = nn.Linear(12, 3)
discriminator = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.1), nn.Linear(16, 1))

optim_main = torch.optim.Adam(list(encoder.parameters()) + list(classifier.parameters()), lr=3e-3)
optim_disc = torch.optim.Adam(discriminator.parameters(), lr=3e-3)
LAMBDA = 0.3


def batches(batch_size=64):
    order_s, order_t = torch.randperm(len(source_x)), torch.randperm(len(target_x))
    for i in range(0, len(source_x), batch_size):
        s, t = order_s[i : i + batch_size], order_t[i : i + batch_size]
        yield source_x[s], source_y[s], target_x[t]


for epoch in range(4):
    for xs, ys, xt in batches():
        n = xs.size(0)
        feats = encoder(torch.cat([xs, xt]))
        dom_labels = torch.cat([torch.zeros(n, 1), torch.ones(xt.size(0), 1)])
        dom_logits = discriminator(feats)

        # 1. the discriminator learns to tell the phones apart
        d_loss = F.binary_cross_entropy_with_logits(dom_logits, dom_labels)
        optim_disc.zero_grad()
        d_loss.backward(retain_graph=True)
        optim_disc.step()

        # 2. the encoder learns the task, and to make the new phone look like the old one
        task_loss = F.cross_entropy(classifier(feats[:n]), ys)
        confusion_loss = F.binary_cross_entropy_with_logits(dom_logits[n:].detach(), torch.zeros(xt.size(0), 1))
        f_loss = task_loss + LAMBDA * confusion_loss
        optim_main.zero_grad()
        f_loss.backward()
        optim_main.step()

    with torch.no_grad():
        acc = (classifier(encoder(target_x)).argmax(1) == target_y).float().mean()
    print(f"[{epoch}] task {task_loss:.3f} domain {d_loss:.3f} target acc {acc:.2f}")
