"""Charts: models of what is shown, drawn as SVG or with letters."""
