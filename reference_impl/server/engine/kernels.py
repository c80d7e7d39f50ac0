"""Kernels of `kernel_step.py`: in triton, which comes with torch for CUDA."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]  # where triton is not installed
def product_kernel(  # noqa: PLR0917 - a kernel is given no objects
    given: Any,
    norm: Any,
    matrix: Any,
    out: Any,
    count: Any,
    epsilon: Any,
    columns: tl.constexpr,
    gated: tl.constexpr,
    summed: tl.constexpr,
    tile: tl.constexpr,
    chunk: tl.constexpr,
) -> None:
    line, row = tl.program_id(0) * tile + tl.arange(0, tile), tl.program_id(1)
    sums = tl.zeros((tile, chunk), tl.float32)
    others = tl.zeros((tile, chunk), tl.float32)
    squares = tl.zeros((chunk,), tl.float32)
    for start in range(0, columns, chunk):
        column = start + tl.arange(0, chunk)
        inside = column < columns
        cells = matrix + line[:, None] * columns + column[None, :]
        read = (line < count)[:, None] & inside[None, :]
        x = tl.load(given + row * columns + column, inside, 0).to(tl.float32)
        if norm is not None:
            squares += x * x
            x *= tl.load(norm + column, inside, 0).to(tl.float32)
        sums += tl.load(cells, read, 0).to(tl.float32) * x[None, :]
        if gated:
            others += tl.load(cells + count * columns, read, 0).to(tl.float32) * x[None, :]
    scale = 1.0 if norm is None else tl.rsqrt(tl.sum(squares, 0) / columns + epsilon)
    total = tl.sum(sums, 1) * scale
    if gated:
        total *= tl.sigmoid(total) * tl.sum(others, 1) * scale
    target = out + row * count + line
    if summed:
        total += tl.load(target, line < count, 0).to(tl.float32)
    tl.store(target, total, line < count)


@triton.jit  # type: ignore[untyped-decorator]  # as above
def turn_kernel(  # noqa: PLR0917 - as above
    projected: Any,
    cos: Any,
    sin: Any,
    norms: Any,
    positions: Any,
    queries: Any,
    keys: Any,
    values: Any,
    slot_stride: Any,
    head_stride: Any,
    epsilon: Any,
    heads: tl.constexpr,
    pairs: tl.constexpr,
    width: tl.constexpr,
) -> None:
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, width)
    swapped = (lane + width // 2) % width
    source = projected + (row * (heads + 2 * pairs) + head) * width
    position = tl.load(positions + row)
    x = tl.load(source + lane).to(tl.float32)
    if head < heads + pairs:
        other = tl.load(source + swapped).to(tl.float32)
        if norms is not None:
            scale = tl.rsqrt(tl.sum(x * x, 0) / width + epsilon)
            x *= scale * tl.load(norms + head * width + lane).to(tl.float32)
            other *= scale * tl.load(norms + head * width + swapped).to(tl.float32)
        angle = position * width + lane
        x = x * tl.load(cos + angle).to(tl.float32) + other * tl.load(sin + angle).to(tl.float32)
    slot = row * slot_stride + position * width + lane
    if head < heads:
        tl.store(queries + (row * heads + head) * width + lane, x)
    elif head < heads + pairs:
        tl.store(keys + slot + (head - heads) * head_stride, x)
    else:
        tl.store(values + slot + (head - heads - pairs) * head_stride, x)
