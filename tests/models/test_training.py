"""Training: what the parts compute, and a toy pair through the same scripts."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from models import corpus, induction, target  # noqa: E402
from models.drafter import Drafter, chain_attention, shifted  # noqa: E402
from models.llama import Llama, Shape  # noqa: E402
from models.optimizer import trapezoid  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SMALL = Shape(vocab_size=512, hidden_size=128, intermediate_size=64, head_dim=32)


def test_the_mask_covers_replies_and_their_end_only():
    opening, end = [7, 8, 9], 2
    ids = np.array([7, 5, 9, 1, 2, 7, 8, 9, 4, 4, 2, 3, 7, 8, 9, 6])
    mask = corpus.assistant_mask(ids, opening, end)
    assert np.flatnonzero(mask).tolist() == [8, 9, 10, 15]


def test_marked_tokens_of_span_repeats_came_before_in_the_same_order():
    ids, mask = corpus.repeats(np.random.default_rng(3), 4096, 512)
    text = ids.tolist()
    pairs = set()
    assert 0.3 < mask.mean() < 0.95
    for at in range(1, len(text)):
        if mask[at]:
            assert (text[at - 1], text[at]) in pairs
        pairs.add((text[at - 1], text[at]))


def test_the_initial_target_copies_repeated_spans():
    torch.manual_seed(0)
    model = Llama(Shape(4096))
    plain = Llama(Shape(4096))
    induction.initialize(model)
    ids, mask = corpus.repeats(np.random.default_rng(4), 4096, 512)

    def share(of: Llama) -> float:
        with torch.no_grad():
            best = of.logits(of(torch.from_numpy(ids.astype(np.int64))[None])[0])[0].argmax(-1)
        right = best[:-1].numpy() == ids[1:]
        return float(right[mask[1:]].mean())

    assert share(model) > 0.9
    assert share(plain) < 0.05


def test_captured_states_are_the_stream_after_that_many_layers():
    torch.manual_seed(0)
    model = Llama(SMALL)
    ids = torch.randint(0, 512, (1, 9))
    final, states = model(ids, (0, 3, 6))
    assert torch.equal(states[0], model.model.embed_tokens(ids))
    assert torch.allclose(model.model.norm(states[2]), final)
    assert not torch.allclose(states[1], states[2])


def test_the_model_is_the_llama_of_transformers():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = Llama(SMALL)
    config = transformers.LlamaConfig(
        **SMALL.config(), tie_word_embeddings=True, attn_implementation="eager"
    )
    config.rope_parameters = {"rope_type": "default", "rope_theta": SMALL.rope_theta}
    other = transformers.LlamaForCausalLM(config)
    missing, unexpected = other.load_state_dict(model.state_dict(), strict=False)
    assert not unexpected
    assert missing == ["lm_head.weight"]
    other.tie_weights()
    ids = torch.randint(0, 512, (2, 17))
    with torch.no_grad():
        assert torch.allclose(model.logits(model(ids)[0]), other(ids).logits, atol=1e-4)


def naive_chain(q, keys, values, p):
    """What draft step s sees at position p, written as a list of (key, value)."""
    step = len(keys) - 1
    seen = [(keys[0][j], values[0][j]) for j in range(p - step + 1)]
    seen += [(keys[t][p - step + t], values[t][p - step + t]) for t in range(1, step + 1)]
    scores = torch.stack([q[p] @ k for k, _ in seen]) * q.shape[-1] ** -0.5
    return sum(w * v for w, (_, v) in zip(scores.softmax(0), seen, strict=True))


@pytest.mark.parametrize("step", [0, 1, 2])
def test_chain_attention_sees_step_zero_and_its_own_chain(step):
    torch.manual_seed(step)
    q, *rest = torch.randn(2 * (step + 1) + 1, 1, 1, 7, 8)
    keys, values = rest[: step + 1], rest[step + 1 :]
    out = chain_attention(q, list(keys), list(values))
    for p in range(step, 7):
        wanted = naive_chain(q[0, 0], [k[0, 0] for k in keys], [v[0, 0] for v in values], p)
        assert torch.allclose(out[0, 0, p], wanted, atol=1e-5)


def test_a_draft_step_takes_the_output_of_the_position_before():
    x = torch.arange(6.0).view(1, 3, 2)
    assert shifted(x).tolist() == [[[0, 0], [0, 1], [2, 3]]]


def test_a_changed_state_changes_later_drafts_only():
    torch.manual_seed(0)
    drafter = Drafter(SMALL, 128, (1, 3, 5))
    embeds = torch.randn(1, 8, 128)
    states = [torch.randn(1, 8, 128) for _ in range(3)]
    before = drafter(embeds, states)
    states[1] = states[1].clone()
    states[1][0, 4] += 1.0
    after = drafter(embeds, states)
    for step, (a, b) in enumerate(zip(before, after, strict=True)):
        changed = [p for p in range(8) if not torch.allclose(a[0, p], b[0, p], atol=1e-6)]
        assert changed == list(range(4 + step, 8))


def test_the_rate_rises_holds_and_falls():
    rates = [trapezoid(step, 1000) for step in range(1000)]
    assert rates[0] < 0.1
    assert rates[300] == 1.0
    assert rates[-1] == pytest.approx(0.03)
    assert rates[700:] == sorted(rates[700:], reverse=True)


def test_batches_do_not_depend_on_where_training_resumed():
    transformers = pytest.importorskip("transformers")
    words = transformers.PreTrainedTokenizerFast.from_pretrained(
        ROOT / "models" / "weights" / "target"
    )
    phase = target.Phase("t", 4, 2, 128, (1, 1), 0.5)
    whole = list(target.batches(words, phase, "resume", 0))
    rest = list(target.batches(words, phase, "resume", 2))
    for a, b in zip(whole[2:], rest, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.slow
def test_a_toy_pair_is_made_by_the_same_scripts(tmp_path):
    from safetensors.torch import load_file

    command = [sys.executable, "-m", "models.make", "--quick"]
    command += ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shown = [line for line in done.stderr.splitlines() if " loss " in line]
    losses = [float(line.split(" loss ")[1].split()[0]) for line in shown]
    assert losses[-1] < losses[0]
    weights = load_file(tmp_path / "out" / "drafter" / "model.safetensors")
    assert all(w.isfinite().all() for w in weights.values())
    config = json.loads((tmp_path / "out" / "drafter" / "config.json").read_text())
    assert config["fc_norm"] is True
    assert config["norm_output"] is True
    assert (tmp_path / "out" / "SHA256SUMS").exists()
    again = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=500
    )
    assert again.returncode == 0, again.stderr[-2000:]
    assert " loss " not in again.stderr, "a finished pair is not trained again"
