"""What is proved before a run begins: `draftgate gate` stops at the first, `doctor` lists all."""
