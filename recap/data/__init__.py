"""From raw check-ins to one clean dataset on disk: read, clean, split, cut into cases."""
