"""Steps through graphs: the tokens of steps without; where no graph can be made, the same again.

What captures is replaced by what computes anew into the same tensor, as a graph does. The tests at
the end need a GPU.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM, GemmaConfig, Qwen3Config

from reference_impl.server.engine import fitting
from reference_impl.server.engine.captured_decoder import CapturedDecoder, Run
from reference_impl.server.engine.fused_step import FusedStep
from reference_impl.server.engine.model_step import ModelStep
from reference_impl.server.engine.slots import Aim, EagerDecoder, Layer, SlotBatch, Step
from tests.reference.engine_models import qwen3
from tests.reference.engine_rows import SIZE, SLOTS, alone, cases, together

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
MODEL = qwen3(SIZE)


class Wrapped:
    """A step that another computes."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def __call__(self, tokens: torch.Tensor, aim: Aim) -> torch.Tensor:
        return self._step(tokens, aim)

    def prefill(
        self, ids: torch.Tensor, ends: torch.Tensor
    ) -> tuple[torch.Tensor, Sequence[Layer]]:
        return self._step.prefill(ids, ends)


class Looking(Wrapped):
    """Looks at the numbers it is given, which the host cannot while a graph is captured."""

    def __call__(self, tokens: torch.Tensor, aim: Aim) -> torch.Tensor:
        assert aim.positions.max().item() >= 0
        return super().__call__(tokens, aim)


class Recorder(Wrapped):
    """A capture that notes how many rows, and how far they look, each graph was made for."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.buckets: list[tuple[int, int]] = []

    def __call__(self, tokens: torch.Tensor, aim: Aim) -> torch.Tensor:
        self._latest = len(tokens), aim.longest
        return super().__call__(tokens, aim)

    def capture(self, run: Run) -> Run:
        filled = run().clone()
        self.buckets.append(self._latest)

        def replay() -> torch.Tensor:
            return filled.copy_(run())

        return replay


def recorded(step: Step | None = None) -> tuple[Recorder, SlotBatch]:
    recorder = Recorder(step or FusedStep(MODEL, 512))
    decoder = CapturedDecoder(EagerDecoder(recorder, CPU), recorder.capture)
    return recorder, SlotBatch(decoder, SLOTS, 512)


@pytest.mark.parametrize("step", [FusedStep, ModelStep])
def test_graphs_compute_the_tokens_of_a_single_run(step: Callable[..., Step]) -> None:
    recorder, batch = recorded(step(MODEL, 512) if step is FusedStep else step(MODEL))
    prompts, lengths = cases(24)
    wanted = [alone(MODEL, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(batch, prompts, lengths) == wanted
    assert recorder.buckets


@pytest.mark.parametrize(
    ("rows", "length", "bucket"),
    [
        (1, 3, (1, 256)),
        (2, 3, (2, 256)),
        (3, 255, (4, 256)),
        (4, 256, (4, 512)),
        (5, 3, (SLOTS, 256)),
        (SLOTS, 400, (SLOTS, 512)),
    ],
)
def test_bucket_is_rounded_within_store(rows: int, length: int, bucket: tuple[int, int]) -> None:
    recorder, batch = recorded()
    with torch.inference_mode():
        batch.admit([[1] * length for _ in range(rows)])
        batch.step([1] * rows)
        batch.step([2] * rows)
    assert recorder.buckets[:1] == [bucket]


def test_bucket_is_captured_once_while_the_store_stays() -> None:
    recorder, batch = recorded()
    assert together(batch, [[1, 2]], [9]) == together(batch, [[1, 2]], [9])
    assert recorder.buckets == [(1, 256)]


def test_short_rows_look_no_further_where_a_long_one_was() -> None:
    recorder, batch = recorded()
    together(batch, [[1] * 300], [3])
    assert together(batch, [[1, 2]], [9]) == [alone(MODEL, [1, 2], 9)]
    assert recorder.buckets == [(1, 512), (1, 256)]


def test_grown_and_renewed_stores_get_graphs_of_their_own() -> None:
    recorder, batch = recorded()
    assert together(batch, [[5] * 250], [20]) == [alone(MODEL, [5] * 250, 20)]
    batch.keep(0)
    assert together(batch, [[7, 8]], [9]) == [alone(MODEL, [7, 8], 9)]
    assert recorder.buckets == [(1, 256), (1, 512), (1, 256)]


def test_logits_outlive_the_next_step() -> None:
    _, batch = recorded()
    eager = SlotBatch(EagerDecoder(FusedStep(MODEL, 512), CPU), SLOTS, 512)
    with torch.inference_mode():
        for each in (batch, eager):
            each.admit([[1, 2, 3], [4]])
        kept = [batch.step(tokens) for tokens in ([1, 2], [3, 4], [5, 6])]
        wanted = [eager.step(tokens) for tokens in ([1, 2], [3, 4], [5, 6])]
    torch.testing.assert_close(kept, wanted)


@pytest.mark.parametrize(
    "error", [RuntimeError("not\npermitted"), torch.OutOfMemoryError("full"), KeyError("cache")]
)
def test_failing_capture_is_logged_once(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    attempts = []

    def fail(run: Run) -> NoReturn:
        attempts.append(run())
        raise error

    decoder = CapturedDecoder(EagerDecoder(FusedStep(MODEL, 512), CPU), fail)
    prompts, lengths = cases(6)
    wanted = [alone(MODEL, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(SlotBatch(decoder, SLOTS, 512), prompts, lengths) == wanted
    assert len(attempts) == 1
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert type(error).__name__ in record.getMessage()
    assert "\n" not in record.getMessage()


def test_graph_with_other_logits_is_not_used(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fitting, "cuda_capture", lambda _device: lambda run: lambda: 0 * run())
    with torch.inference_mode():
        decoder = fitting._captured_decoder(MODEL, EagerDecoder(FusedStep(MODEL, 512), CPU))
    assert "other logits" in caplog.text
    batch = SlotBatch(decoder, SLOTS, 512)
    assert together(batch, [[7, 8]], [9]) == [alone(MODEL, [7, 8], 9)]


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
OF_CONFIG: Any = AutoModelForCausalLM.from_config
GEMMA: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
    "initializer_range": 0.4,
}
SLIDING: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0}


def on_gpu(model: Any) -> Any:
    return model.eval().to("cuda")


@needs_gpu
@pytest.mark.parametrize("family", ["qwen3", "gemma"])
def test_gpu_computes_tokens_of_single_run(family: str, caplog: pytest.LogCaptureFixture) -> None:
    torch.manual_seed(1)
    made = qwen3(SIZE) if family == "qwen3" else OF_CONFIG(GemmaConfig(vocab_size=SIZE, **GEMMA))
    model = on_gpu(made)
    batch = fitting.batch_for(model, SLOTS, 512)
    assert isinstance(batch, SlotBatch)
    prompts, lengths = cases(24)
    prompts, lengths = [*prompts, [5] * 200], [*lengths, 300]
    wanted = [alone(model, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(batch, prompts, lengths) == wanted
    if family == "qwen3":
        assert isinstance(batch._decoder, CapturedDecoder)
        assert batch._decoder._graphs
        assert not caplog.records


@needs_gpu
def test_gpu_goes_on_where_a_step_looks_at_its_numbers(caplog: pytest.LogCaptureFixture) -> None:
    model = on_gpu(qwen3(SIZE))
    decoder = fitting.fitting(model, lambda: Looking(FusedStep(model, 512)))
    assert decoder is not None
    [record] = caplog.records
    assert "without CUDA graphs" in record.getMessage()
    prompts, lengths = cases(6)
    wanted = [alone(model, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(SlotBatch(decoder, SLOTS, 512), prompts, lengths) == wanted


@needs_gpu
def test_gpu_says_that_one_row_goes_after_another(caplog: pytest.LogCaptureFixture) -> None:
    model = on_gpu(OF_CONFIG(Qwen3Config(vocab_size=SIZE, **GEMMA, **SLIDING)))
    fitting.batch_for(model, SLOTS, 512)
    assert "one row after another" in caplog.text


@pytest.mark.parametrize("kernel", ["product_kernel", "turn_kernel"])
def test_kernels_compile_without_a_gpu(kernel: str) -> None:
    triton: Any = pytest.importorskip("triton", reason="no triton: it comes with torch for CUDA")
    compiler: Any = importlib.import_module("triton.compiler")
    target = importlib.import_module("triton.backends.compiler").GPUTarget("cuda", 90, 32)
    made = getattr(importlib.import_module("reference_impl.server.engine.kernels"), kernel)
    numbers = {"count": "i32", "epsilon": "fp32", "positions": "*i64"}
    numbers |= dict.fromkeys(("slot_stride", "head_stride", "token_stride"), "i32")
    constants = {"columns": 64, "tile": 2, "chunk": 64, "heads": 4, "pairs": 2, "width": 16}
    constants |= {"normed": True, "gated": True, "summed": True}
    names = made.arg_names
    given = {
        name: "constexpr" if name in constants else numbers.get(name, "*bf16") for name in names
    }
    fixed = {(names.index(name),): value for name, value in constants.items() if name in names}
    source = compiler.ASTSource(fn=made, signature=given, constexprs=fixed)
    assert triton.compile(source, target=target).asm["cubin"]
