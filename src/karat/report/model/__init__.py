"""Documents as data: tables, columns, cells and figures."""
