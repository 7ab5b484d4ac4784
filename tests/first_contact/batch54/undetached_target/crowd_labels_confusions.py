# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = q
"""
Learning from crowds: volunteers label galaxy-zoo-like cutouts of snow crystals,
each with their own habits of confusion. EM alternation:

    E: posterior q of the true class given the classifier and all the votes
    M: a few gradient steps on classifier and confusion matrices, given q
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


def simulate(n=300, n_class=4, n_feat=10, n_people=8, seed=2):
    g = torch.Generator().manual_seed(seed)
    truth = torch.randint(0, n_class, (n,), generator=g)
    centres = 1.3 * torch.randn(n_class, n_feat, generator=g)
    x = centres[truth] + torch.randn(n, n_feat, generator=g)
    votes = torch.empty(n, n_people, dtype=torch.long)
    for person in range(n_people):
        skill = 0.45 + 0.5 * torch.rand(1, generator=g).item()
        habit = torch.full((n_class, n_class), (1 - skill) / (n_class - 1))
        habit.fill_diagonal_(skill)
        votes[:, person] = torch.multinomial(habit[truth], 1, generator=g).squeeze(1)
    return x, votes, truth


class CrowdModel(nn.Module):
    def __init__(self, n_feat, n_class, n_people):
        super().__init__()
        self.classifier = nn.Sequential(nn.Linear(n_feat, 24), nn.ReLU(), nn.Linear(24, n_class))
        self.confusion = nn.Parameter(2.0 * torch.eye(n_class).repeat(n_people, 1, 1))

    def log_joint(self, x, votes):
        """log p(class, votes | x) for every class: (items, classes)."""
        log_p = F.log_softmax(self.classifier(x), dim=1)
        log_conf = F.log_softmax(self.confusion, dim=2)
        for person in range(votes.shape[1]):
            log_p = log_p + log_conf[person][:, votes[:, person]].t()
        return log_p


def e_step(model, x, votes):
    return F.softmax(model.log_joint(x, votes), dim=1)  # expect: place


def m_step(model, optimizer, x, votes, q, n_steps):
    for _ in range(n_steps):
        loss = -(q * model.log_joint(x, votes)).sum(dim=1).mean()  # expect: place
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
    return loss.item()


def main(n_rounds=12, n_steps=4):
    torch.manual_seed(3)
    x, votes, truth = simulate()
    model = CrowdModel(x.shape[1], 4, votes.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for rnd in range(n_rounds):
        q = e_step(model, x, votes)  # expect: place
        bound = m_step(model, optimizer, x, votes, q, n_steps)
        agree = (q.argmax(dim=1) == truth).float().mean().item()
        print(f"round {rnd:2d}   -Q {bound:7.4f}   posterior agrees with truth {agree:.3f}")
    with torch.no_grad():
        alone = (model.classifier(x).argmax(dim=1) == truth).float().mean()
    print(f"classifier alone: {alone:.3f}")


if __name__ == "__main__":
    main()
