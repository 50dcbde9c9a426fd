"""Map grounds: a city's stored layers, or shores from the package."""
