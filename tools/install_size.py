"""What the light install takes on disk: `python tools/install_size.py`, in any environment of it.

The files of every package that draftgate requires without an extra, and what these require.
"""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = "draftgate"
MOST_LISTED = 6


def size_of(package: Distribution) -> int:
    """Bytes of its files that are there."""
    places = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return sum(place.stat().st_size for place in places if place.is_file())


def collect(name: str, sizes: dict[str, int]) -> None:
    """Add the size of a package, and of all that it requires here, to `sizes`."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in sizes:
        return
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return
    sizes[key] = 0 if key == ROOT else size_of(package)
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            collect(requirement.name, sizes)


def main() -> None:
    """Print the sum, and the largest packages."""
    sizes: dict[str, int] = {}
    collect(ROOT, sizes)
    print(f"{sum(sizes.values()) / 1e6:,.0f} MB in {len(sizes) - 1} packages beside draftgate")
    for name in sorted(sizes, key=lambda name: -sizes[name])[:MOST_LISTED]:
        print(f"{sizes[name] / 1e6:8.0f} MB  {name}")


if __name__ == "__main__":
    main()
