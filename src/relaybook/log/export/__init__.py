"""Write requests to a file, as JSON Lines, CSV, fine-tuning lines or Parquet. A filter selects the requests."""
