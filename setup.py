"""What the wheel holds: the packages, and two folders that lie elsewhere in the checkout.

Everything else about the project is in pyproject.toml. The sample sessions lie in `traces/samples`,
inside a package already.
"""

from setuptools import find_namespace_packages, setup

PACKAGES = ["traces*", "replay*", "checks*", "reports*", "draftgate*"]
ELSEWHERE = {"draftgate.demo.pair": "models/weights", "draftgate.docs": "docs"}

setup(
    packages=[*find_namespace_packages(include=PACKAGES), *ELSEWHERE],
    package_dir=ELSEWHERE,
)
