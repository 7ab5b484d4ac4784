# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = partials
# Maximum likelihood branch lengths and HKY rates of a small phylogeny (pruning algorithm).
import torch

torch.manual_seed(17)
torch.set_default_dtype(torch.float64)

# post-order: (node, left child, right child); leaves are 0..5, the root is 10
TREE = [(6, 0, 1), (7, 2, 3), (8, 6, 7), (9, 4, 5), (10, 8, 9)]
N_LEAVES, N_NODES = 6, 11


def hky_rate_matrix(log_kappa, freq_logits):
    pi = torch.softmax(freq_logits, 0)
    transition = torch.zeros(4, 4)
    for a, b in ((0, 2), (2, 0), (1, 3), (3, 1)):
        transition[a, b] = 1.0
    off = 1.0 - torch.eye(4) + (log_kappa.exp() - 1.0) * transition
    q = off * pi
    q = q - torch.diag(q.sum(1))
    scale = -(pi * q.diagonal()).sum()
    return q / scale, pi


class PhyloModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_branch = torch.nn.Parameter(torch.full((N_NODES - 1,), -1.5))
        self.log_kappa = torch.nn.Parameter(torch.tensor(0.3))
        self.freq_logits = torch.nn.Parameter(torch.zeros(4))

    def log_likelihood(self, tips):
        """tips: (N_LEAVES, sites, 4), one-hot"""
        q, pi = hky_rate_matrix(self.log_kappa, self.freq_logits)
        p = torch.matrix_exp(q * self.log_branch.exp()[:, None, None])
        sites = tips.shape[1]

        partials = torch.zeros(N_NODES, sites, 4)  # expect: place
        partials[:N_LEAVES] = tips
        for node, left, right in TREE:
            from_left = partials[left] @ p[left].T  # expect: place
            from_right = partials[right] @ p[right].T  # expect: place
            partials[node] = from_left * from_right  # expect: place
        return (partials[-1] @ pi).log().sum()


def evolve(sites):
    """sequences drawn down the same tree with known branch lengths"""
    q, pi = hky_rate_matrix(torch.tensor(1.1), torch.tensor([0.3, -0.2, 0.0, 0.1]))
    lengths = torch.rand(N_NODES - 1) * 0.4 + 0.05
    state = {10: torch.multinomial(pi, sites, replacement=True)}
    for node, left, right in reversed(TREE):
        for child in (left, right):
            p = torch.matrix_exp(q * lengths[child])
            state[child] = torch.multinomial(p[state[node]], 1).squeeze(1)
    return torch.stack([torch.nn.functional.one_hot(state[i], 4).double() for i in range(N_LEAVES)])


alignment = evolve(200)
model = PhyloModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for it in range(15):
    optimizer.zero_grad()
    loss = -model.log_likelihood(alignment)
    loss.backward()  # expect: place
    optimizer.step()
    if it % 5 == 0:
        print(f"{it:3d} -lnL {loss.item():.3f} kappa {model.log_kappa.exp().item():.3f}")
