"""Signatures read and written: Karat's own and sacreBLEU's."""
