import torch
import torch.nn.functional as F


class Deblurrer:
    """Recovers an image from a blurred one; the kernel is known, the image is a sigmoid of logits."""

    def __init__(self, observed, kernel, steps=2):
        self.observed, self.kernel, self.steps = observed, kernel, steps
        self.logits = torch.zeros_like(observed).requires_grad_()
        self.optimizer = torch.optim.LBFGS([self.logits], lr=0.8, max_iter=3)

    def render(self):
        self.estimate = torch.sigmoid(self.logits)

    def closure(self):
        self.optimizer.zero_grad()
        blurred = F.conv2d(self.estimate, self.kernel, padding=1)
        loss = F.mse_loss(blurred, self.observed)
        smooth = (self.estimate[..., 1:] - self.estimate[..., :-1]).abs().mean()
        total = loss + 1e-2 * smooth
        total.backward(retain_graph=True)
        return total

    def run(self):
        for _ in range(self.steps):
            self.render()
            self.optimizer.step(self.closure)
        return self.estimate.detach()


torch.manual_seed(2)
truth = (torch.rand(1, 1, 8, 8) > 0.5).float()
kernel = torch.full((1, 1, 3, 3), 1 / 9)
restored = Deblurrer(F.conv2d(truth, kernel, padding=1), kernel).run()
print(F.mse_loss(restored, truth).item())
