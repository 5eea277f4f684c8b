"""Write the requests that match a filter as a file: JSON Lines, CSV, fine-tuning lines or Parquet."""
