"""PEM (Liu, Dahlmeier and Ng 2010): adequacy, fluency and dissimilarity in one score."""
