"""Human scores of systems, estimated from few labels and the values of judges."""
