"""Scale: pieces of tables on the workers of Dask, Spark and Ray."""
