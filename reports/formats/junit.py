"""A run as JUnit XML: one test case per bound and control, and one per turn and family of checks.

<testsuite name="turns" tests="…"><testcase classname="session-01.t003" name="tool calls">
  <failure type="ARGS_NOT_JSON" message="…">case: cases/….case.json</failure></testcase>
"""

from xml.etree import ElementTree as xml

from checks.findings import CODES, CONTENT, TOKENS, TOOL_CALLS, TRANSPORT
from reports.formats.headline import bound_numbers, headline
from reports.inert import visible
from reports.store.store import Store
from reports.store.summary import Row, Summary

RUN = "run"
TURN_FAMILIES = (TRANSPORT, CONTENT, TOOL_CALLS, TOKENS)
"""Families of checks that judge a turn; findings of the others are about the run."""


def render_junit(store: Store, summary: Summary) -> str:
    """The document. An undecided bound is a failure of type ``inconclusive``."""
    root = xml.Element("testsuites", name="draftgate")
    _suite(root, summary, RUN, [_verdict(summary)])
    _suite(root, summary, "bounds", [_bound(b) for b in summary["bounds"]])
    _suite(root, summary, "controls", [_control(c) for c in summary["controls"]])
    _suite(root, summary, "turns", _turns(store, summary))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: xml.Element, summary: Summary, name: str, cases: list[xml.Element]) -> None:
    suite = xml.SubElement(root, "testsuite", name=name)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(c.find("failure") is not None for c in cases)))
    suite.set("errors", str(sum(c.find("error") is not None for c in cases)))
    suite.set("skipped", str(sum(c.find("skipped") is not None for c in cases)))
    suite.set("timestamp", f"{summary.run['started_at']:%Y-%m-%dT%H:%M:%S}")
    suite.set("time", "0")
    suite.set("hostname", "draftgate")
    if name == RUN:
        properties = xml.SubElement(suite, "properties")
        for fact, text in [("run", summary.id), *headline(summary)]:
            xml.SubElement(properties, "property", name=fact, value=visible(text))
    suite.extend(cases)


def _case(class_name: str, name: str) -> xml.Element:
    return xml.Element("testcase", classname=visible(class_name), name=visible(name), time="0")


def _add(case: xml.Element, tag: str, kind: str, message: str, text: str = "") -> xml.Element:
    child = xml.SubElement(case, tag, message=visible(message))
    if tag != "skipped":
        child.set("type", kind)
    child.text = visible(text) or None
    return case


def _verdict(summary: Summary) -> xml.Element:
    case = _case(RUN, "verdict")
    verdict, reasons = summary.run["verdict"], summary.run["reasons"]
    if verdict in ("pass", "aa-pass"):
        return case
    tag = "error" if verdict == "invalid" else "failure"
    return _add(case, tag, verdict, "; ".join(reasons) or verdict, "\n".join(reasons))


def _bound(bound: Row) -> xml.Element:
    case = _case("bounds", bound["name"])
    if bound["state"] == "not_applicable":
        return _add(case, "skipped", "", bound["message"])
    if bound["state"] != "pass":
        _add(case, "failure", bound["state"], bound["message"], bound["needed"] or "")
    xml.SubElement(case, "system-out").text = visible(bound_numbers(bound))
    return case


def _control(control: Row) -> xml.Element:
    case = _case("controls", control["kind"])
    detail = control["detail"] or ""
    if control["state"] == "caught":
        return case
    if control["state"] == "missed":
        expected = control["expected"] or "nothing"
        return _add(case, "error", "CONTROL_NOT_CAUGHT", f"must fire: {expected}", detail)
    return _add(case, "skipped", "", f"{control['state'].replace('_', ' ')} {detail}".strip())


def _turns(store: Store, summary: Summary) -> list[xml.Element]:
    """A case for each replayed turn and family of checks; findings about the run go to `run`."""
    turns = store.rows(
        "select session, turn, replayable, skip_reason from turns where run = ?"
        " order by session, turn_index",
        [summary.id],
    )
    failures: dict[tuple[str, str, str], list[Row]] = {}
    known = {(t["session"], t["turn"]) for t in turns}
    for finding in summary["findings"]:
        if finding["severity"] == "error":
            place = (finding["session"], finding["turn"])
            session, turn = place if place in known else (RUN, finding["code"])
            family = CODES[finding["code"]].family if finding["code"] in CODES else finding["code"]
            failures.setdefault((session, turn, family), []).append(finding)
    cases = []
    for turn in turns:
        for family in TURN_FAMILIES if turn["replayable"] else ["replay"]:
            case = _case(f"{turn['session']}.{turn['turn']}", family)
            if not turn["replayable"]:
                _add(case, "skipped", "", turn["skip_reason"] or "not replayed")
            elif found := failures.pop((turn["session"], turn["turn"], family), None):
                _fail(case, found)
            cases.append(case)
    for (session, turn_id, family), found in failures.items():
        case = _case(f"{session}.{turn_id}", family)
        _fail(case, found)
        cases.append(case)
    return cases


def _fail(case: xml.Element, findings: list[Row]) -> None:
    """One failure element, as readers expect; its text lists every finding."""
    lines = [
        f"{f['code']}: {f['message']}" + (f" (case: {f['case_file']})" if f["case_file"] else "")
        for f in findings
    ]
    codes = " ".join(dict.fromkeys(f["code"] for f in findings))
    _add(case, "failure", codes, findings[0]["message"], "\n".join(lines))
