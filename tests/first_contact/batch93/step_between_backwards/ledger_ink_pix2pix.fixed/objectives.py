import torch
import torch.nn.functional as F

LAMBDA_L1 = 20.0


def adversarial(score, real):
    return F.mse_loss(score, torch.full_like(score, 1.0 if real else 0.0))


def critic_loss(critic, page, clean, fake):
    d_real = adversarial(critic(page, clean), True)
    d_fake = adversarial(critic(page, fake.detach()), False)
    return 0.5 * (d_real + d_fake), {"d_real": d_real, "d_fake": d_fake}


def cleaner_loss(critic, page, clean, fake):
    g_adv = adversarial(critic(page, fake), True)
    g_l1 = F.l1_loss(fake, clean)
    return g_adv + LAMBDA_L1 * g_l1, {"g_adv": g_adv, "g_l1": g_l1}
