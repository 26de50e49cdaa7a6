"""One vocabulary may be filled from several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import karat as kt


def test_threads_may_share_a_vocabulary() -> None:
    vocab = kt.Vocab()
    texts = [[f"w{i}-{j % 700} x{j % 300}" for j in range(2000)] for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        actual_tokens = list(
            pool.map(lambda t: kt.tokenize(t, "none", vocab=vocab, threads=2), texts)
        )
    for tokens, arguments in zip(actual_tokens, texts, strict=True):
        assert [tokens[i] for i in (0, 699, 1999)] == [arguments[i].split() for i in (0, 699, 1999)]
    assert len(vocab) == 8 * 700 + 300


def test_tokens_are_stemmed_and_stopped_as_metrics_do() -> None:
    texts = ["The cats were Running", "of the and"]
    tokens = kt.tokenize(texts, "none", stem="porter", stop="en")
    assert [tokens[0], tokens[1]] == [["cat", "Run"], []]
