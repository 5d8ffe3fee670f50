"""The sessions of a run one by one, from its journals: memory does not grow with the run. Imports
no other room of draftgate."""
