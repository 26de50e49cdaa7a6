"""Scale: table pieces on the workers of Dask, Spark and Ray."""
