"""Who holds cards, and which."""
