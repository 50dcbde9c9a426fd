"""Parts of views that several views use, or that would make one too long."""
