"""Charts drawn as SVG."""
