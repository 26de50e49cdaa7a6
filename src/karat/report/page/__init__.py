"""The HTML page: frame, style sheet, scripts and markup."""
