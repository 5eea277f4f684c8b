"""Calculate how evenly nodes are loaded if a balancer sends each namespace to one node.

Run ``python -m benchmarks.fleet``. The namespaces are the namespaces of the big log (benchmarks/big_log/words.py). Half
of all requests have one of eight labels. The other half belong to 200,000 users, and the first user sends one in sixty
of these requests. The result for the node with the highest load is exact, because it is calculated from the weights of
all namespaces without sampling. docs/how-to/scale.md has the table.
"""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise

from benchmarks.big_log.words import DRAWN_LABELS, USER_WEIGHTS, user_name

NODES = (2, 10, 100, 1000)


def weights() -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of each label and of each user in all requests."""
    labels: dict[str, float] = {}
    for label in DRAWN_LABELS:
        labels[label] = labels.get(label, 0) + 0.5 / len(DRAWN_LABELS)
    steps = pairwise([0.0, *USER_WEIGHTS])
    users = {user_name(rank): 0.5 * (end - start) / USER_WEIGHTS[-1] for rank, (start, end) in enumerate(steps)}
    return labels, users


def heaviest(nodes: int, pinned: Iterable[tuple[str, float]], spread: float = 0.0) -> float:
    """Return the load of the node with the highest load, relative to the mean.

    ``pinned`` has the shares that belong to one node each. ``spread`` is divided among all nodes.
    """
    loads = [spread / nodes] * nodes
    for name, share in pinned:
        loads[int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % nodes] += share
    return max(loads) * nodes


def main() -> None:
    """Print the table."""
    labels, users = weights()
    print("| nodes | every namespace to the node of its hash | users' so, labels to any node |\n|---:|---:|---:|")
    for nodes in NODES:
        all_hashed = heaviest(nodes, [*labels.items(), *users.items()])
        users_hashed = heaviest(nodes, users.items(), sum(labels.values()))
        print(f"| {nodes:,} | {all_hashed:.2f} × the mean | {users_hashed:.2f} × |")


if __name__ == "__main__":
    main()
