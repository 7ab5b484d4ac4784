import torch
import torch.nn as nn
import torch.optim as optim

from networks import Discriminator, InpaintGenerator


class BaseModel(nn.Module):
    def __init__(self, name, config):
        super().__init__()
        self.name = name
        self.config = config
        self.iteration = 0


class GapModel(BaseModel):
    def __init__(self, config):
        super().__init__("GapModel", config)
        self.generator = InpaintGenerator()
        self.discriminator = Discriminator()
        self.l1_loss = nn.L1Loss()
        self.adversarial_loss = nn.BCELoss()
        self.gen_optimizer = optim.Adam(self.generator.parameters(), lr=config["LR"], betas=(0.0, 0.9))
        self.dis_optimizer = optim.Adam(
            self.discriminator.parameters(), lr=config["LR"] * config["D2G_LR"], betas=(0.0, 0.9)
        )

    def process(self, depth, masks):
        self.iteration += 1
        self.gen_optimizer.zero_grad()
        self.dis_optimizer.zero_grad()

        outputs = self(depth, masks)
        gen_loss = 0

        # discriminator
        dis_real, feat_real = self.discriminator(depth)
        dis_fake, _ = self.discriminator(outputs.detach())
        dis_loss = self._adv(dis_real, True) / 2 + self._adv(dis_fake, False) / 2

        # generator
        gen_fake, feat_fake = self.discriminator(outputs)  # expect: place
        gen_loss += self.config["ADV_W"] * self._adv(gen_fake, True)
        for real, fake in zip(feat_real, feat_fake):
            gen_loss += self.config["FM_W"] * self.l1_loss(fake, real.detach())
        gen_loss += self.config["L1_W"] * self.l1_loss(outputs, depth) / masks.mean()

        logs = [("l_dis", dis_loss.item()), ("l_gen", gen_loss.item())]
        return outputs, gen_loss, dis_loss, logs

    def _adv(self, p, is_real):
        return self.adversarial_loss(p, torch.full_like(p, float(is_real)))

    def forward(self, depth, masks):
        return self.generator(torch.cat((depth * (1 - masks) + masks, masks), dim=1))

    def backward(self, gen_loss, dis_loss):
        dis_loss.backward()  # expect: place
        self.dis_optimizer.step()  # expect: place

        gen_loss.backward()  # expect: place
        self.gen_optimizer.step()
