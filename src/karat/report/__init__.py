"""Reports: one document of tables and figures, shown as text, JSON, TSV, Markdown, LaTeX or HTML.

`model` holds the parts of documents, `documents` builds them from results, `charts` draws figures
and `render` has a file per output format. Nothing is imported here, to keep commands fast.
"""
