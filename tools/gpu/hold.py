"""Takes all memory of the GPU but some MiB, and keeps it until stdin ends: python hold.py DEVICE MIB"""

import sys

import torch


def main(device: str, left: int) -> None:
    held = []
    if device == "gpu":
        # The context of this process takes memory too, and is there after the first tensor.
        held.append(torch.empty(1, device="cuda"))
        # What another process frees in the meantime is taken as well.
        for _ in range(3):
            free = torch.cuda.mem_get_info()[0] - left * 2**20
            if free > 0:
                held.append(torch.empty(free, dtype=torch.uint8, device="cuda"))
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
