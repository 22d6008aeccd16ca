"""Random scenes and the checks of their runs, for scripts/soak."""
