import torch
import torch.nn as nn
import torch.nn.functional as F


def fgsm(loss, images, eps):
    grad = torch.autograd.grad(loss, images)[0]
    return (images + eps * grad.sign()).clamp(0, 1).detach()


class AdversarialTrainer:
    def __init__(self, model, lr=0.05, eps=0.1, mix=0.5):
        self.model, self.eps, self.mix = model, eps, mix
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def train_batch(self, images, labels):
        images.requires_grad_(True)
        clean_loss = F.cross_entropy(self.model(images), labels)
        adversarial = fgsm(clean_loss, images, self.eps)
        adv_loss = F.cross_entropy(self.model(adversarial), labels)
        loss = self.mix * clean_loss.detach() + (1 - self.mix) * adv_loss
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(31)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
trainer = AdversarialTrainer(model)
for _ in range(3):
    print(trainer.train_batch(torch.rand(6, 1, 8, 8), torch.randint(0, 3, (6,))))
