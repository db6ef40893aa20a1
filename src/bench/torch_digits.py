"""Trains the bundled digits with PyTorch's DistributedDataParallel over Gloo, two processes on one host.

The same job as `./tutti launch -n 2 train`: 64-128-10 units, 30 epochs, a global batch of 32, SGD with a decaying step
size, one thread per process. Usage: torch_digits.py digits.csv.gz
"""
import gzip
import os
import socket
import subprocess
import sys
import time

RANKS = 2
EPOCHS = 30
GLOBAL_BATCH = 32
LEARNING_RATE = 0.05
TRAINING_SAMPLES = 1437


def rank_main(data):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    torch.manual_seed(42)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with gzip.open(data, "rt") as lines:
        rows = [[float(value) for value in line.split(",")] for line in lines if line[0].isdigit()]
    table = torch.tensor(rows)[torch.randperm(len(rows))]
    features, labels = table[:, :-1], table[:, -1].long()
    training = features[:TRAINING_SAMPLES]
    features = (features - training.mean(0)) / training.std(0).clamp(min=1e-6)
    features = features.clamp(-5, 5)

    layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    model = DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=3e-3)
    loss = torch.nn.CrossEntropyLoss()
    begin = time.perf_counter()
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE / ((epoch + 2) / 2)
        order = torch.randperm(TRAINING_SAMPLES)
        for start in range(0, TRAINING_SAMPLES, GLOBAL_BATCH):
            own = order[start:start + GLOBAL_BATCH][rank::RANKS]
            optimizer.zero_grad()
            loss(model(features[own]), labels[own]).backward()
            optimizer.step()
    seconds = time.perf_counter() - begin
    with torch.no_grad():
        correct = (layers(features[TRAINING_SAMPLES:]).argmax(1) == labels[TRAINING_SAMPLES:]).float().mean().item()
    if rank == 0:
        print(f"test accuracy {100 * correct:.2f} %, {EPOCHS * TRAINING_SAMPLES / seconds:,.0f} samples/s, "
              f"training {seconds:.2f} s")


def launch(data):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    ranks = []
    for rank in range(RANKS):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        ranks.append(subprocess.Popen([sys.executable, __file__, data], env=environment))
    sys.exit(max(abs(rank.wait()) for rank in ranks))


if __name__ == "__main__":
    rank_main(sys.argv[1]) if "RANK" in os.environ else launch(sys.argv[1])
