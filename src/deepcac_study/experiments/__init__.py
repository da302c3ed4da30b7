"""From a task to a record: fitting, runs, sweeps, theory, the case study."""
