"""Map grounds: shores from the package, or the user's own OpenStreetMap extract."""
