# expect: pattern = none
"""Few-shot vowel mapping across dialects: adapt by a few inner steps, learn where to start."""
import torch
import torch.nn.functional as F
from torch.func import functional_call
from torch import nn


def dialect(rng):
    """A dialect shifts and stretches the two formants."""
    stretch = 1 + 0.3 * torch.randn(2, generator=rng)
    shift = 0.5 * torch.randn(2, generator=rng)

    def speak(count):
        formants = torch.rand(count, 2, generator=rng) * 2 - 1
        return formants, torch.sin(2 * formants * stretch) + shift

    return speak


def adapt(net, weights, heard, meant, steps, pace):
    for _ in range(steps):
        gap = F.mse_loss(functional_call(net, weights, (heard,)), meant)
        slopes = torch.autograd.grad(gap, list(weights.values()), create_graph=True)
        weights = {name: w - pace * s for (name, w), s in zip(weights.items(), slopes)}
    return weights


def main(rounds=15, dialects=4):
    torch.manual_seed(71)
    rng = torch.Generator().manual_seed(72)
    net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
    pace = nn.Parameter(torch.tensor(0.1))
    meta = torch.optim.Adam([*net.parameters(), pace], lr=5e-3)
    start = dict(net.named_parameters())
    for k in range(rounds):
        meta.zero_grad()
        score = 0.0
        for _ in range(dialects):
            speak = dialect(rng)
            tuned = adapt(net, start, *speak(10), steps=2, pace=pace)
            heard, meant = speak(20)
            score = score + F.mse_loss(functional_call(net, tuned, (heard,)), meant)
        score = score / dialects
        score.backward()
        meta.step()
        if k % 5 == 0:
            print(f"round {k}: after adapting {score.item():.4f}, inner pace {pace.item():.4f}")


if __name__ == "__main__":
    main()
