"""Where a map's ground comes from: the shores that come with the package, or a user's own OpenStreetMap extract."""
