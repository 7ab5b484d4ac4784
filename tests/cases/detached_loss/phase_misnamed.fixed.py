import copy
import torch
import torch.nn as nn

torch.manual_seed(0)
datasets = {
    "training": [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(3)],
    "validation": [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(1)],
}


def train_model(model, criterion, optimizer, num_epochs=2):
    best_wts, best_acc = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(num_epochs):
        for phase in ["training", "validation"]:
            model.train(phase == "training")
            running_loss, running_corrects, seen = 0.0, 0, 0
            for inputs, labels in datasets[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "training"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "training":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
                seen += inputs.size(0)
            acc = running_corrects.double() / seen
            print(f"{phase} loss {running_loss / seen:.4f} acc {acc:.4f}")
            if phase == "validation" and acc > best_acc:
                best_acc, best_wts = acc, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_wts)
    return model


net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))
train_model(net, nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9))
