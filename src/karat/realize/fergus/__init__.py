"""FERGUS (Bangalore, Rambow and Whittaker 2000), module by module."""
