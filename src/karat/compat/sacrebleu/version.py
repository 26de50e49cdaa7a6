"""The version of sacreBLEU with this interface; with a plus, that of Karat."""

from karat import __version__ as _karat

INTERFACE_VERSION = "2.6.0"
"""The version of sacreBLEU with these numbers, signatures and outputs."""

__version__ = version = f"{INTERFACE_VERSION}+karat.{_karat}"
__version_tuple__ = version_tuple = (2, 6, 0)
__commit_id__ = commit_id = None
