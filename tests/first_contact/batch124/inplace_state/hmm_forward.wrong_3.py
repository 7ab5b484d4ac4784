"""Fit a discrete HMM (sleep stages -> movement counts) by gradient ascent on the likelihood."""
import math

import torch


def simulate(T, generator):
    trans = torch.tensor([[0.95, 0.05, 0.0], [0.03, 0.92, 0.05], [0.0, 0.08, 0.92]])
    emit = torch.tensor([[0.8, 0.15, 0.04, 0.01], [0.2, 0.5, 0.2, 0.1], [0.05, 0.15, 0.3, 0.5]])
    z, xs = 0, []
    for _ in range(T):
        z = torch.multinomial(trans[z], 1, generator=generator).item()
        xs.append(torch.multinomial(emit[z], 1, generator=generator).item())
    return torch.tensor(xs)


class HMM(torch.nn.Module):
    def __init__(self, n_states, n_symbols):
        super().__init__()
        self.n_states = n_states
        self.pi_logits = torch.nn.Parameter(torch.zeros(n_states))
        self.A_logits = torch.nn.Parameter(2.0 * torch.eye(n_states))
        self.B_logits = torch.nn.Parameter(torch.randn(n_states, n_symbols))

    def matrices(self):
        pi = torch.softmax(self.pi_logits, 0)
        A = torch.softmax(self.A_logits, 1)
        B = torch.softmax(self.B_logits, 1)
        return pi, A, B

    def log_likelihood(self, obs):
        pi, A, B = self.matrices()
        T = obs.numel()
        alpha = torch.zeros(T, self.n_states)
        logp = 0.0
        for t in range(T):
            if t == 0:
                alpha[t] = pi * B[:, obs[t]]
            else:
                alpha[t] = (alpha[t - 1] @ A) * B[:, obs[t]]
            scale = alpha[t].sum()
            alpha[t] = alpha[t] / scale
            logp = logp + torch.log(scale)
        return logp


def main():
    gen = torch.Generator().manual_seed(17)
    nights = [simulate(40, gen) for _ in range(5)]
    torch.manual_seed(17)
    hmm = HMM(3, 4)
    optimizer = torch.optim.Adam(hmm.parameters(), lr=0.05)
    n_obs = sum(len(n) for n in nights)
    for it in range(8):
        optimizer.zero_grad()
        nll = -sum(hmm.log_likelihood(night) for night in nights) / n_obs
        nll.backward(retain_graph=True)
        optimizer.step()
        print(f"iter {it}  nats/obs {nll.item():.4f}  (uniform {math.log(4):.4f})")


main()
