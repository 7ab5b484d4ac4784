# expect: pattern = nonleaf-grad
# expect: raises = AttributeError: 'NoneType' object has no attribute 'abs'
# expect: carrier = image
import torch
from torch import nn

torch.manual_seed(0)
cnn = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(20, 4))


def load_image(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.rand(3, 12, 12, generator=g)


def saliency(model, image):
    model.eval()
    image = image.requires_grad_(True).unsqueeze(0)  # expect: place
    scores = model(image)
    scores[0, scores.argmax()].backward()
    return image.grad.abs().max(dim=1).values  # expect: place


for seed in range(3):
    heat = saliency(cnn, load_image(seed))
    print(seed, heat.shape, heat.max().item())
