"""Training of models, stage by stage."""
