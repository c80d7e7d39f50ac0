"""Kernels of `kernel_step.py`: in triton, which comes with torch for CUDA.

Triton looks annotations up itself and knows its own only, so other arguments have none.
"""
# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# ruff: noqa: ANN001, ANN201, PLR0917 - as above; a kernel is given no objects

from __future__ import annotations

import triton
import triton.language as tl


# fmt: off
@triton.jit
def product_kernel(
    given, norm, matrix, out, count, epsilon, columns: tl.constexpr,
    normed: tl.constexpr, gated: tl.constexpr, summed: tl.constexpr,
    tile: tl.constexpr, chunk: tl.constexpr,
):
    # fmt: on
    line = tl.program_id(0) * tile + tl.arange(0, tile)
    row = tl.program_id(1)
    known = (line < count)[:, None]
    first = matrix + line[:, None] * columns
    sums = tl.zeros((tile, chunk), tl.float32)
    others = tl.zeros((tile, chunk), tl.float32)
    squares = tl.zeros((chunk,), tl.float32)
    for start in range(0, columns, chunk):
        column = start + tl.arange(0, chunk)
        inside = column < columns
        read = known & inside[None, :]
        x = tl.load(given + row * columns + column, inside, 0).to(tl.float32)
        if normed:
            squares += x * x
            x *= tl.load(norm + column, inside, 0).to(tl.float32)
        sums += tl.load(first + column[None, :], read, 0).to(tl.float32) * x[None, :]
        if gated:
            second = first + count * columns
            others += tl.load(second + column[None, :], read, 0).to(tl.float32) * x[None, :]
    total = tl.sum(sums, 1)
    other = tl.sum(others, 1)
    if normed:
        scale = tl.rsqrt(tl.sum(squares, 0) / columns + epsilon)
        total *= scale
        other *= scale
    if gated:
        total = total * tl.sigmoid(total) * other
    target = out + row * count + line
    if summed:
        total += tl.load(target, line < count, 0).to(tl.float32)
    tl.store(target, total, line < count)


# fmt: off
@triton.jit
def turn_kernel(
    projected, cos, sin, norms, positions, queries, keys, values,
    slot_stride, head_stride, token_stride, epsilon,
    heads: tl.constexpr, pairs: tl.constexpr, width: tl.constexpr, normed: tl.constexpr,
):
    # fmt: on
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    lane = tl.arange(0, width)
    swapped = (lane + width // 2) % width
    source = projected + (row * (heads + 2 * pairs) + head) * width
    position = tl.load(positions + row)
    x = tl.load(source + lane).to(tl.float32)
    if head < heads + pairs:
        other = tl.load(source + swapped).to(tl.float32)
        if normed:
            scale = tl.rsqrt(tl.sum(x * x, 0) / width + epsilon)
            x *= scale * tl.load(norms + head * width + lane).to(tl.float32)
            other *= scale * tl.load(norms + head * width + swapped).to(tl.float32)
        angle = position * width + lane
        x = x * tl.load(cos + angle).to(tl.float32) + other * tl.load(sin + angle).to(tl.float32)
    slot = row * slot_stride + position * token_stride + lane
    if head < heads:
        tl.store(queries + (row * heads + head) * width + lane, x)
    elif head < heads + pairs:
        tl.store(keys + slot + (head - heads) * head_stride, x)
    else:
        tl.store(values + slot + (head - heads - pairs) * head_stride, x)
