# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn as nn

torch.manual_seed(4)
trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
policy, value = nn.Linear(16, 4), nn.Linear(16, 1)
actor_opt = torch.optim.Adam([*trunk.parameters(), *policy.parameters()], lr=1e-3)
critic_opt = torch.optim.Adam(value.parameters(), lr=1e-2)


def update(states, actions, returns):
    h = trunk(states)
    v = value(h).squeeze(1)
    log_prob = torch.log_softmax(policy(h), dim=1).gather(1, actions.unsqueeze(1)).squeeze(1)
    policy_loss = -(log_prob * (returns - v).detach()).mean()
    value_loss = (returns - v).pow(2).mean()

    actor_opt.zero_grad()
    critic_opt.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    actor_opt.step()
    critic_opt.step()
    return policy_loss.item(), value_loss.item()


for episode in range(5):
    states = torch.randn(30, 8)
    print(update(states, torch.randint(0, 4, (30,)), states.sum(1)))
