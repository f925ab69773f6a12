"""Money in and out."""
