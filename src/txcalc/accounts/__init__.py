"""One file a question: each folds a model's rows over a workload into a report."""
