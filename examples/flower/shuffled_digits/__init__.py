"""A linear model on digits, trained on Flower with shuffled reports."""
