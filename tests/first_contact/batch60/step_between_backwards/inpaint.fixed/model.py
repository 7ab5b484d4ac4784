import torch
import torch.nn.functional as F

from networks import CompletionNet, PatchCritic


class InpaintingModel:
    def __init__(self, adv_weight=0.1, lr=1e-3):
        self.gen = CompletionNet()
        self.dis = PatchCritic()
        self.adv_weight = adv_weight
        self.gen_optimizer = torch.optim.Adam(self.gen.parameters(), lr=lr, betas=(0.5, 0.9))
        self.dis_optimizer = torch.optim.Adam(self.dis.parameters(), lr=0.5 * lr, betas=(0.5, 0.9))
        self.iteration = 0

    @staticmethod
    def hinge(logits, real):
        return F.relu(1 - logits).mean() if real else F.relu(1 + logits).mean()

    def process(self, images, masks):
        self.iteration += 1
        self.gen_optimizer.zero_grad()
        self.dis_optimizer.zero_grad()

        painted = self.gen(images, masks)

        dis_loss = 0.5 * (self.hinge(self.dis(images), True) + self.hinge(self.dis(painted.detach()), False))

        gen_l1 = F.l1_loss(painted, images) / masks.mean()
        gen_adv = -self.dis(painted).mean()  # expect: place
        gen_loss = gen_l1 + self.adv_weight * gen_adv  # expect: place

        logs = {"dis": dis_loss.item(), "l1": gen_l1.item(), "adv": gen_adv.item()}
        return painted, gen_loss, dis_loss, logs

    def backward(self, gen_loss, dis_loss):
        gen_loss.backward()  # expect: place
        self.dis_optimizer.zero_grad()
        dis_loss.backward()

        self.gen_optimizer.step()
        self.dis_optimizer.step()  # expect: place
