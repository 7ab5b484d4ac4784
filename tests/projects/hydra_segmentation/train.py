import hydra
import torch
from omegaconf import DictConfig, OmegaConf
from PIL import Image
from torch import nn
from torchvision import transforms

from segnet import Decoder


class Scans(torch.utils.data.Dataset):
    def __init__(self, count, size):
        self.count = count
        self.transform = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor()])

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        image = Image.open(f"scans/{i:03d}.png").convert("RGB")
        mask = Image.open(f"masks/{i:03d}.png").convert("L")
        return self.transform(image), (self.transform(mask) > 0.5).float()


@hydra.main(config_path="conf", config_name="config")
def main(cfg: DictConfig):
    print(OmegaConf.to_yaml(cfg))
    net = nn.Sequential(nn.Conv2d(3, cfg.model.width, 3, padding=1), Decoder(cfg.model.width))
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.optim.lr)
    loader = torch.utils.data.DataLoader(Scans(16, cfg.data.size), batch_size=4)
    for epoch in range(cfg.optim.epochs):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
