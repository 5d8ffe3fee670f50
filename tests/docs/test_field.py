"""The page of public reports: every row has its report once, codes that exist, and a file."""

import re
from pathlib import Path

from checks.findings import CODES

REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")


def rows(root: Path) -> list[list[str]]:
    text = (root / "docs" / "field.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "report"]


def test_forty_reports_or_more_of_several_engines_each_once(root: Path) -> None:
    reports = [row[0] for row in rows(root)]
    assert all(REPORT.fullmatch(report) for report in reports)
    assert len(set(reports)) == len(reports) >= 40
    engines = ("vllm-project/vllm#", "sgl-project/sglang#", "NVIDIA/TensorRT-LLM#", "vllm-ascend#")
    for engine in engines:
        assert sum(engine in report for report in reports) >= 3, engine


def test_codes_exist_and_files_show_them(root: Path) -> None:
    seen = 0
    for row in rows(root):
        codes = re.findall(r"`([A-Z0-9_]{5,})`", row[2])
        assert set(codes) <= CODES.keys(), row
        if len(row) == 4:
            file = root / row[3].strip("` ")
            assert file.is_file(), row
            seen += 1
            if file.suffix == ".json":
                text = file.read_text(encoding="utf-8")
                loud = [c for c in codes if c != "SPLIT_VARIANT" and f'"{c}"' in text]
                assert loud or not codes or "NEAR_TIE" in row[2] or row[2][0] == "n", row
        else:
            assert len(row[2]) > 20, "what cannot be seen says why"
    assert seen >= 40
