import gym
import numpy as np
import torch
import torch.optim as optim
from tensorboardX import SummaryWriter

from networks.policy import Critic, Policy
from utils.meter import AverageMeter

env = gym.make("CartPole-v0")
writer = SummaryWriter("runs/ac")
policy = Policy(env.observation_space.shape[0], env.action_space.n)
critic = Critic(env.observation_space.shape[0], policy.body)
policy_opt = optim.Adam(policy.parameters(), lr=1e-3)
critic_opt = optim.Adam(critic.head.parameters(), lr=1e-3)
returns = AverageMeter()

for episode in range(20):
    state = env.reset()
    done, total = False, 0.0
    while not done:
        state = torch.from_numpy(np.array(state)).float().unsqueeze(0)
        features = policy.body(state)
        dist = torch.distributions.Categorical(logits=policy.head(features))
        action = dist.sample()
        value = critic.head(features)
        state, reward, done, _ = env.step(action.item())
        total += reward
        critic_loss = (value - reward).pow(2).mean()
        policy_loss = -(dist.log_prob(action) * (reward - value.detach())).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        policy_opt.zero_grad()
        policy_loss.backward()
        policy_opt.step()
    returns.update(total)
    writer.add_scalar("return", returns.avg, episode)
