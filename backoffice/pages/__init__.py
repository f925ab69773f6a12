"""What every page of the office is made of: panels, acts, forms, and the admin that holds them."""
