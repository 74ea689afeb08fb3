"""`transkern check --sarif`: what SARIF 2.1.0 requires of a log, and that its places are those of the refusals.

`SCHEMA` has, of the standard's schema (https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json),
the objects that such a log is made of, with all of their properties: none of these objects may have others.
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from transkern.cli import cli
from transkern.refusals import KINDS

ANY = object()
TEXT, COUNT, ONE = "text", 0, 1  # a string, an integer from 0, one from 1

MESSAGE = {"text": TEXT, "markdown": TEXT, "id": TEXT, "arguments": ANY, "properties": ANY}
MULTIFORMAT = {"text": TEXT, "markdown": TEXT, "properties": ANY}
REGION = {
    **dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), ONE),
    **dict.fromkeys(("charOffset", "charLength", "byteOffset", "byteLength", "snippet", "message"), ANY),
    "sourceLanguage": TEXT, "properties": ANY,
}  # fmt: skip
ARTIFACT = {"uri": "uri-reference", "uriBaseId": TEXT, "index": ANY, "description": ANY, "properties": ANY}
PHYSICAL = {
    "address": ANY, "artifactLocation": ARTIFACT, "region": REGION, "contextRegion": REGION, "properties": ANY,
}  # fmt: skip
LOGICAL = {
    "name": TEXT, "index": ANY, "fullyQualifiedName": TEXT, "decoratedName": TEXT, "parentIndex": ANY, "kind": TEXT,
    "properties": ANY,
}  # fmt: skip
LOCATION = {
    "id": ANY, "physicalLocation": PHYSICAL, "logicalLocations": [LOGICAL], "message": MESSAGE, "annotations": ANY,
    "relationships": ANY, "properties": ANY,
}  # fmt: skip
RESULT = {
    "ruleId": TEXT, "level": {"none", "note", "warning", "error"}, "message": MESSAGE, "locations": [LOCATION],
    "kind": {"notApplicable", "pass", "fail", "review", "open", "informational"},
    **dict.fromkeys((
        "ruleIndex", "rule", "analysisTarget", "guid", "correlationGuid", "occurrenceCount", "partialFingerprints",
        "fingerprints", "stacks", "codeFlows", "graphs", "graphTraversals", "relatedLocations", "suppressions",
        "baselineState", "rank", "attachments", "hostedViewerUri", "workItemUris", "provenance", "fixes", "taxa",
        "webRequest", "webResponse", "properties",
    ), ANY),
}  # fmt: skip
RULE = {
    "id": TEXT, "name": TEXT, "shortDescription": MULTIFORMAT, "fullDescription": MULTIFORMAT, "help": MULTIFORMAT,
    **dict.fromkeys((
        "deprecatedIds", "guid", "deprecatedGuids", "deprecatedNames", "messageStrings", "defaultConfiguration",
        "helpUri", "relationships", "properties",
    ), ANY),
}  # fmt: skip
COMPONENT = {
    "name": TEXT, "version": TEXT, "rules": [RULE], "organization": TEXT, "product": TEXT, "fullName": TEXT,
    **dict.fromkeys((
        "guid", "productSuite", "shortDescription", "fullDescription", "semanticVersion", "dottedQuadFileVersion",
        "releaseDateUtc", "downloadUri", "informationUri", "globalMessageStrings", "notifications", "taxa", "locations",
        "language", "contents", "isComprehensive", "localizedDataSemanticVersion",
        "minimumRequiredLocalizedDataSemanticVersion", "associatedComponent", "translationMetadata",
        "supportedTaxonomies", "properties",
    ), ANY),
}  # fmt: skip
TOOL = {"driver": COMPONENT, "extensions": [COMPONENT], "properties": ANY}
RUN = {
    "tool": TOOL, "results": [RESULT], "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
    **dict.fromkeys((
        "invocations", "conversion", "language", "versionControlProvenance", "originalUriBaseIds", "artifacts",
        "logicalLocations", "graphs", "automationDetails", "runAggregates", "baselineGuid", "redactionTokens",
        "defaultEncoding", "defaultSourceLanguage", "newlineSequences", "externalPropertyFileReferences",
        "threadFlowLocations", "taxonomies", "addresses", "translations", "policies", "webRequests", "webResponses",
        "specialLocations", "properties",
    ), ANY),
}  # fmt: skip
SCHEMA = {"$schema": "uri", "version": {"2.1.0"}, "runs": [RUN], "inlineExternalProperties": ANY, "properties": ANY}

REQUIRED = {
    id(SCHEMA): ("version", "runs"), id(RUN): ("tool",), id(TOOL): ("driver",), id(COMPONENT): ("name",),
    id(RULE): ("id",), id(MULTIFORMAT): ("text",), id(RESULT): ("message",),
}  # fmt: skip
ONE_OF = {id(MESSAGE): ("text", "id"), id(PHYSICAL): ("address", "artifactLocation")}
"""Objects that must have one of these at least."""


def violations(value: Any, schema: Any = SCHEMA, path: str = "log") -> list[str]:
    """What of the schema a log breaks, each with its place."""
    match schema:
        case dict():
            if not isinstance(value, dict):
                return [f"{path} is no object"]
            missing = [f"{path} lacks {name}" for name in REQUIRED.get(id(schema), ()) if name not in value]
            either = ONE_OF.get(id(schema), ())
            missing += [f"{path} has none of {either}"] if either and not value.keys() & {*either} else []
            unknown = [f"{path} must not have {name}" for name in value.keys() - schema.keys()]
            inner = [violations(v, schema[k], f"{path}.{k}") for k, v in value.items() if k in schema]
            return [*missing, *unknown, *(one for each in inner for one in each)]
        case [of]:
            if not isinstance(value, list):
                return [f"{path} is no array"]
            unique = [json.dumps(v, sort_keys=True) for v in value] if of in (RULE, LOGICAL) else []
            twice = [f"{path} has an item twice"] if len(unique) != len({*unique}) else []
            return [*twice, *(one for k, v in enumerate(value) for one in violations(v, of, f"{path}[{k}]"))]
        case set():
            return [] if isinstance(value, str) and value in schema else [f"{path} is {value!r}, none of {schema}"]
        case int():
            is_number = isinstance(value, int) and not isinstance(value, bool) and value >= schema
            return [] if is_number else [f"{path} is {value!r}, which is no integer from {schema}"]
        case str():
            if not isinstance(value, str):
                return [f"{path} is no string"]
            pattern = {"uri": r"[a-z]+:[!-~]+", "uri-reference": r"(?:%[0-9A-F]{2}|[A-Za-z0-9\-._~:/?#@!$&'()*+,;=])*"}
            is_form = re.fullmatch(pattern.get(schema, ".*"), value, re.S) is not None
            return [] if is_form else [f"{path} is no {schema}: {value!r}"]
    return []


def coherent(log: Any) -> None:
    """What the standard says beside its schema: rules are there once, results have theirs, regions do not go back."""
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len({*rules})
    assert {result["ruleId"] for result in run["results"]} == {*rules}
    for result in run["results"]:
        assert result["message"]["text"].strip()
        for location in result["locations"]:
            region = location["physicalLocation"].get("region")
            if region is not None:
                assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


FILES = {
    "plain.py": "def fine(x: 'float64[n]'):\n    return x + 1\n",
    "refused one.py": (
        "import numpy as np\n\n\ndef modes(a: 'float64[n,n]'):\n    é = 1; b = np.linalg.eigvals(a); c = open('x')\n"
        "    return b, c, é\n"
    ),
    "no_python.py": "def f(:\n",
    "sub/deep é.py": "def f(x: 'float64[n]'):\n    return (x +\n            open('a'))\n",
    "decorated.py": "import other\n\n\n@other.wrapped\ndef g(x: 'float64[n]'):\n    return x\n",
    "book.ipynb": json.dumps({"cells": [
        {"cell_type": "markdown", "source": "# Title"},
        {"cell_type": "code", "source": "a = 1\ndef h(x: 'float64[n]'):\n    return open('b')"},
    ]}),
}  # fmt: skip


def checked(folder: Path, *paths: str) -> tuple[Any, int]:
    found = CliRunner().invoke(cli, ["check", "--sarif", *(paths or (str(folder),))])
    return json.loads(found.stdout), found.exit_code


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("paths", [(), (".",), ("plain.py",), ("book.ipynb",), tuple(FILES)], ids=str)
def test_a_log_is_as_the_standard_wants_it(folder: Path, paths: tuple[str, ...]) -> None:
    log, code = checked(folder, *paths)
    assert violations(log) == []
    coherent(log)
    results = log["runs"][0]["results"]
    assert bool(results) == (paths != ("plain.py",)) == bool(code)
    for result in results:
        assert result["ruleId"] in KINDS
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        path = Path(unquote(uri.removeprefix("file://")))
        assert (folder / path).is_file(), uri


def test_regions_are_the_refused_text(folder: Path) -> None:
    """Columns count characters, from 1; ends are behind the last one."""
    log, _ = checked(folder, ".")
    found: dict[str, list[str]] = {}
    for result in log["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        name = unquote(physical["artifactLocation"]["uri"])
        region = physical.get("region")
        if region is None:
            (place,) = result["locations"][0]["logicalLocations"]
            found.setdefault(name, []).append(place["fullyQualifiedName"])
            continue
        lines = FILES[name].splitlines()[region["startLine"] - 1 : region["endLine"]]
        lines[-1] = lines[-1][: region["endColumn"] - 1]
        lines[0] = lines[0][region["startColumn"] - 1 :]
        found.setdefault(name, []).append("\n".join(lines))
    assert found["refused one.py"] == ["np.linalg.eigvals(a)", "open('x')"]
    assert found["sub/deep é.py"][0].startswith("open")
    assert found["book.ipynb"] == ["cell 2, line 3"]
    assert found["no_python.py"]


def test_what_is_none_is_found() -> None:
    """The check itself: logs that break the standard, each in another way."""
    region = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
    location = {"physicalLocation": {"artifactLocation": {"uri": "a%20b.py"}, "region": region}}
    result = {"ruleId": "TK1", "level": "warning", "message": {"text": "no"}, "locations": [location]}
    driver = {"name": "transkern", "rules": [{"id": "TK1", "shortDescription": {"text": "x"}}]}
    log: Any = {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [result]}]}
    assert violations(log) == []

    def broken(change: Any) -> list[str]:
        made = copy.deepcopy(log)
        change(made, made["runs"][0], made["runs"][0]["results"][0])
        return violations(made)

    changes = [
        lambda log, run, result: log.pop("version"), lambda log, run, result: log.update(version="2.1"),
        lambda log, run, result: log.pop("runs"), lambda log, run, result: run.pop("tool"),
        lambda log, run, result: run["tool"].pop("driver"), lambda log, run, result: run["tool"]["driver"].pop("name"),
        lambda log, run, result: run["tool"]["driver"]["rules"][0].pop("id"),
        lambda log, run, result: run["tool"]["driver"]["rules"].append(run["tool"]["driver"]["rules"][0]),
        lambda log, run, result: run["tool"]["driver"]["rules"][0]["shortDescription"].pop("text"),
        lambda log, run, result: run.update(columnKind="characters"), lambda log, run, result: result.pop("message"),
        lambda log, run, result: result["message"].pop("text"), lambda log, run, result: result.update(level="bad"),
        lambda log, run, result: result.update(line=3), lambda log, run, result: result.update(locations={}),
        lambda log, run, result: result["locations"][0]["physicalLocation"].pop("artifactLocation"),
        lambda log, run, result: result["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda log, run, result: result["locations"][0]["physicalLocation"]["region"].update(endColumn="3"),
        lambda log, run, result: result["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b.py"),
    ]  # fmt: skip
    for k, change in enumerate(changes):
        assert len(broken(change)) == 1, (k, broken(change))
