"""What flakelab costs: a module for each verb."""
