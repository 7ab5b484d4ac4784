# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss, cost, out, outputs, x_adv
# owl calls (log-mel patches, 5 species), robust accuracy under PGD after every epoch
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

EPS, ALPHA, STEPS = 0.3, 0.1, 5


class OwlNet(nn.Module):
    def __init__(self, n_species=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.fc = nn.Linear(64, n_species)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


class PGD:
    def __init__(self, model, eps, alpha, steps):
        self.model = model
        self.eps, self.alpha, self.steps = eps, alpha, steps
        self.loss = nn.CrossEntropyLoss()

    def perturb(self, x, y):
        x_adv = (x + torch.empty_like(x).uniform_(-self.eps, self.eps)).detach()
        for _ in range(self.steps):
            x_adv.requires_grad_(True)
            cost = self.loss(self.model(x_adv), y)
            self.model.zero_grad()
            cost.backward()  # expect: place
            x_adv = x_adv.detach() + self.alpha * x_adv.grad.sign()
            x_adv = x + torch.clamp(x_adv - x, -self.eps, self.eps)
            x_adv = x_adv.detach()
        return x_adv


def owl_patches(n, n_species=5):
    y = torch.randint(n_species, (n,))
    x = 0.3 * torch.randn(n, 1, 12, 16)
    for i, c in enumerate(y.tolist()):
        x[i, 0, 2 * c:2 * c + 2, 3:12] += 1.5
    return x, y


def train(epoch, net, trainloader, optimizer, criterion, adversary):
    net.train()
    train_loss = 0
    for inputs, targets in trainloader:
        adv = adversary.perturb(inputs, targets)
        optimizer.zero_grad()
        loss = criterion(net(adv), targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    print("Epoch %d | adversarial train loss %.3f" % (epoch, train_loss / len(trainloader)))


def test(net, testloader, adversary):
    net.eval()
    clean = robust = total = 0
    with torch.no_grad():  # expect: place
        for inputs, targets in testloader:
            clean += (net(inputs).argmax(1) == targets).sum().item()
            inputs = adversary.perturb(inputs, targets)  # expect: place
            outputs = net(inputs)
            robust += (outputs.argmax(1) == targets).sum().item()
            total += targets.size(0)
    print("clean acc %.1f%% | robust acc %.1f%%" % (100 * clean / total, 100 * robust / total))


if __name__ == "__main__":
    torch.manual_seed(8)
    trainloader = DataLoader(TensorDataset(*owl_patches(64)), batch_size=16, shuffle=True)
    testloader = DataLoader(TensorDataset(*owl_patches(32)), batch_size=16)
    net = OwlNet()
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    adversary = PGD(net, EPS, ALPHA, STEPS)
    for epoch in range(3):
        train(epoch, net, trainloader, optimizer, nn.CrossEntropyLoss(), adversary)
        test(net, testloader, adversary)
