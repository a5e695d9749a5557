"""What benchmarks/automatic.py measures, one file per question."""
