"""Reports: one document of tables and figures, shown as text, JSON, TSV, Markdown, LaTeX or HTML.

`table` holds the data model, `render` turns a document into a string, `charts` draws figures and
`output` puts the string on disk.  Nothing is imported here, so that a command which prints four
lines of text does not pay for the parts it leaves alone.
"""
