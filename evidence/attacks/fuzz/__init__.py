"""Random and coverage-guided inputs for whatever reads bytes of others.

    python -m evidence.attacks.fuzz --target all --runs 1000000

`targets` says what is fed and what may be raised, `mutations` how an input is changed, `loop` runs
inputs and keeps what went wrong, `guided` lets atheris choose them by coverage.
"""
