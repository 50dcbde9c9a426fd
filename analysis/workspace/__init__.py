"""An opened dataset with a model; each part is read or computed when it is first needed."""

from analysis.workspace.workspace import ReportProgress, Workspace

__all__ = ["ReportProgress", "Workspace"]
