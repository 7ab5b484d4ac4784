"""Where did the old sundial stand and how was it turned? Levenberg-Marquardt on shadow lengths and angles."""
import torch

torch.set_default_dtype(torch.float64)


def shadow(params, hours):
    latitude, turn, height = params
    angle = (hours - 12.0) * torch.pi / 12.0
    elevation = torch.asin(torch.cos(latitude) * torch.cos(angle) * 0.95 + torch.sin(latitude) * 0.3)
    direction = torch.atan2(torch.sin(angle), torch.sin(latitude) * torch.cos(angle)) + turn
    return torch.cat([height / torch.tan(elevation), direction])


def measure(hours):
    truth = torch.tensor([0.83, 0.12, 0.35])
    clean = shadow(truth, hours)
    return clean + 0.002 * torch.randn_like(clean), truth


class Fitter:
    def __init__(self, guess, damping=1e-2):
        self.params = torch.tensor(guess, requires_grad=True)
        self.damping = damping

    def residual(self, hours, seen):
        return shadow(self.params, hours) - seen

    def jacobian(self, r):
        rows = []
        for i in range(len(r)):
            row, = torch.autograd.grad(r[i], self.params, retain_graph=True)
            rows.append(row)
        return torch.stack(rows)

    def step(self, hours, seen):
        r = self.residual(hours, seen)
        before = r.square().sum()
        j = self.jacobian(r)
        before.backward()                       # for the test of convergence below
        slope = self.params.grad.norm().item()
        self.params.grad = None
        with torch.no_grad():
            a = j.T @ j
            delta = torch.linalg.solve(a + self.damping * torch.diag(a.diagonal()), j.T @ r)
            self.params -= delta
            after = self.residual(hours, seen).square().sum()
            if after < before:
                self.damping *= 0.3
            else:
                self.params += delta
                self.damping *= 4.0
        return min(before.item(), after.item()), slope


def main():
    torch.manual_seed(1)
    hours = torch.tensor([8.5, 9.25, 10.0, 11.0, 12.5, 13.75, 14.5, 15.0])
    seen, truth = measure(hours)
    fitter = Fitter([0.6, 0.0, 0.5])
    for iteration in range(20):
        error, slope = fitter.step(hours, seen)
        print(f"{iteration:2d}  error {error:.6f}  slope {slope:.2e}  damping {fitter.damping:.1e}")
        if slope < 1e-6:
            break
    names = ("latitude", "turn", "height")
    print({n: (round(p, 4), round(t, 4)) for n, p, t in zip(names, fitter.params.tolist(), truth.tolist())})


if __name__ == "__main__":
    main()
