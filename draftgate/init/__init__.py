"""``draftgate init``: a first configuration, from what sessions and endpoints show."""
