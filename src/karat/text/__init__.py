"""Text becomes ragged integer arrays once: segments, tokenisers, vocabulary, normalisers."""
