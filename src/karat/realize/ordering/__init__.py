"""The ordering model: a log-linear model of the order of treelets."""
