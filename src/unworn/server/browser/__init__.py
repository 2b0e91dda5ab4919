"""What answers a browser: values are fetched here and handed to the pages, which cannot reach anything else."""
