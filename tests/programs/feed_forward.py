# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program: a feed-forward network with batches, validation, a checkpoint."""

import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(0.1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.dropout(F.relu(self.bn1(self.fc1(x))))
        x = self.dropout(F.relu(self.fc2(x)))
        return F.log_softmax(self.out(x), dim=1)


x = torch.randn(600, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
training, validation = random_split(TensorDataset(x, y), [500, 100])
loader = DataLoader(training, batch_size=50, shuffle=True)

model = Net(8, 32, 3).to(device)
print(model, sum(p.numel() for p in model.parameters() if p.requires_grad))
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
for _epoch in range(10):
    model.train()
    running = 0.0
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        running += loss.item() * inputs.size(0)
    scheduler.step()

model.eval()
correct = 0
with torch.no_grad():
    for inputs, targets in DataLoader(validation, batch_size=100):
        pred = model(inputs.to(device)).argmax(dim=1, keepdim=True)
        correct += pred.eq(targets.to(device).view_as(pred)).sum().item()

path = Path(tempfile.mkdtemp()) / "net.pt"
torch.save(model.state_dict(), path)
other = Net(8, 32, 3)
other.load_state_dict(torch.load(path))
other.eval()
assert torch.allclose(other(x), model(x))
print("accuracy", correct / len(validation))
assert correct / len(validation) > 0.8
