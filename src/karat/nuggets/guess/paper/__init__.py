"""The paper's classifier (Marton and Radul 2006)."""
