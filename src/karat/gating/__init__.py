"""Gates: is a run as good as the baseline that was committed?"""
