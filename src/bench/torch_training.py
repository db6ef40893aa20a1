"""Times training steps with PyTorch's DistributedDataParallel over Gloo, all ranks on this host.

The same models and steps as `./tutti bench --training`: square linear layers with ReLU, the mean square as the loss, SGD,
one thread per process. Usage: torch_training.py RANKS BATCH LAYERSxWIDTH...
Prints a line "variant parameters batch p50 min alone aloneMin steps" per variant and model, times in milliseconds, and a
line "# note" for a model that it omits.
"""
import os
import socket
import subprocess
import sys
import time

WARM_UP = 2
ROUNDS = 3
VARIANTS = 3
FEWEST_STEPS = 3
MOST_STEPS = 100
# A PyTorch without an optimized BLAS takes tens of times longer for a step.
MODEL_SECONDS = 20


def rank_main(batch, models):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    dist.init_process_group("gloo")

    def block(call, model, values, optimizer, steps):
        millis = []
        for index in range(WARM_UP + steps):
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            call(values).square().mean().backward()
            optimizer.step()
            if index >= WARM_UP:
                millis.append(1e3 * (time.perf_counter() - start))
        return millis

    def summary(millis):
        ordered = sorted(millis)
        slowest = torch.tensor([ordered[len(ordered) // 2], ordered[0]], dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return slowest.tolist()

    def rounds_and_steps(slowest):
        steps = min(MOST_STEPS, max(1.0, MODEL_SECONDS / (VARIANTS * ROUNDS)) / slowest - WARM_UP)
        if steps >= FEWEST_STEPS:
            return ROUNDS, int(min(steps, max(FEWEST_STEPS, 1.0 / slowest)))
        return (1, FEWEST_STEPS) if VARIANTS * (WARM_UP + FEWEST_STEPS) * slowest <= MODEL_SECONDS else (0, 0)

    for layers, width in models:
        parts = []
        for layer in range(layers):
            parts += [torch.nn.Linear(width, width)] + ([torch.nn.ReLU()] if layer < layers - 1 else [])
        model = torch.nn.Sequential(*parts)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        values = torch.randn(batch, width)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        start = time.perf_counter()
        model(values).square().mean().backward()
        slowest = summary([time.perf_counter() - start])[0]
        rounds, steps = rounds_and_steps(slowest)
        if rounds == 0:
            if dist.get_rank() == 0:
                print(f"# omitted {parameters} parameters: a step without communication takes {slowest:.1f} s", flush=True)
            continue
        alone, reduced, viewed = [], [], []
        for _ in range(rounds):
            dist.barrier()
            alone += block(model, model, values, optimizer, steps)
            for millis, views in ((reduced, False), (viewed, True)):
                replicas = DistributedDataParallel(model, gradient_as_bucket_view=views)
                dist.barrier()
                millis += block(replicas, model, values, optimizer, steps)
                del replicas
        base = summary(alone)
        for variant, times in (("none", base), ("overlap", summary(reduced)), ("overlap-views", summary(viewed))):
            if dist.get_rank() == 0:
                print(variant, parameters, batch, *times, *base, len(alone), sep="\t", flush=True)
    dist.destroy_process_group()


def launch(ranks):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                           LOCAL_RANK=str(rank))
        processes.append(subprocess.Popen([sys.executable] + sys.argv, env=environment))
    sys.exit(max(abs(process.wait()) for process in processes))


if __name__ == "__main__":
    if os.environ.get("BENCH_RANK_STARTED"):
        shapes = [tuple(int(number) for number in shape.split("x")) for shape in sys.argv[3:]]
        rank_main(int(sys.argv[2]), shapes)
    else:
        os.environ["BENCH_RANK_STARTED"] = "1"
        launch(int(sys.argv[1]))
