# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program: a convolutional network with residual blocks, on drawn bars."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)
np.random.seed(1)


class Bars(Dataset):
    """Images with one bar, across or down: which?"""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        image = np.random.randn(1, 12, 12).astype(np.float32) * 0.3
        place, label = np.random.randint(12), i % 2
        if label:
            image[0, place, :] += 1
        else:
            image[0, :, place] += 1
        return torch.from_numpy(image), label


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + x)


model = nn.Sequential(
    nn.Conv2d(1, 8, kernel_size=3, stride=1, padding=1),
    nn.ReLU(inplace=True),
    nn.MaxPool2d(2),
    Block(8),
    nn.AdaptiveAvgPool2d((3, 3)),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(8 * 3 * 3, 2),
)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.SGD(
    model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True
)
scheduler = CosineAnnealingLR(optimizer, T_max=6)
for epoch in range(6):
    model.train()
    correct = total = 0
    for images, labels in DataLoader(Bars(200), batch_size=20, shuffle=True):
        optimizer.zero_grad(set_to_none=True)
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        _, predicted = outputs.max(1)
        total += labels.size(0)
        correct += predicted.eq(labels).sum().item()
    scheduler.step()
    print(f"{epoch} loss {loss.item():.3f} accuracy {correct / total:.2f}")
model.eval()
with torch.no_grad():
    images, labels = next(iter(DataLoader(Bars(200), batch_size=200)))
    accuracy = (model(images).argmax(1) == labels).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.9
