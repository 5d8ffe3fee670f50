"""Steps whose drafts are known by their ids: as the server reports them, or recomputed."""
