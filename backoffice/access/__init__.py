"""Who gets in: people, roles, second factor, step-up."""
