"""Tokenisers that need another package, an extra of Karat, and cut as sacreBLEU's do."""
