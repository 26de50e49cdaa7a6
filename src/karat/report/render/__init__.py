"""Renderers: a document as text, JSON, TSV, CSV, Markdown, LaTeX, HTML, SVG, XLSX or parquet."""
