"""The picture and the page of a result: what they show, that they stand alone, and that labels do no harm."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import debandit as db
from debandit.policies import as_policy
from debandit.report import report_of
from debandit.report.sensitivity import sensitivity, with_core

HOSTILE = '<script>alert("x")</script>'


class Page(HTMLParser):
    """What a browser would see of it: tags, their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def log():
    arms = np.array(["A", HOSTILE])[np.arange(60) % 2]
    return db.ExperimentLog(arms, np.sin(np.arange(60)) + (np.arange(60) % 2))


@pytest.fixture(scope="module")
def result(log):
    return db.debias(log, "uniform", runs=64, control="A")


def test_the_page_has_everything_and_stands_alone(log, result):
    others = sensitivity(log, result)
    html = report_of(result, fit=db.check(log, "uniform"), others=others, source="trial.csv")
    page = Page(html)
    assert "script" not in page.tags
    assert html.count("<script") == 0
    assert HOSTILE[:8] in page.text  # shown as text
    assert not [v for k, v in page.attributes if k in ("src", "href") and v and not v.startswith(("#", "data:"))]
    assert not re.search(r"url\((?!#|data:)", html)
    assert len(html) < 2_000_000
    for heading in ("The numbers", "Does the rule fit the log?", "How much hangs on the assumptions", "Do it again"):
        assert heading in page.text
    assert "debandit debias trial.csv --policy uniform --world smoothed --runs 64 --control A" in page.text
    assert {"svg", "table", "caption", "main"} <= set(page.tags)
    for part in result.parts():
        if part.kind == "sentence":
            assert part.content in page.text


def test_a_kept_result_is_enough(result, tmp_path, monkeypatch):
    from debandit.cli import main

    monkeypatch.chdir(tmp_path)
    result.to_json("result.json")
    assert main(["report", "result.json", "-o", "page.html"]) == 0
    assert "Does the rule fit the log?" not in (tmp_path / "page.html").read_text()
    assert "The numbers" in (tmp_path / "page.html").read_text()
    (tmp_path / "broken.json").write_text("{}")
    assert main(["report", "broken.json"]) == 2


def test_what_other_assumptions_give(log):
    made = db.debias(log, "epsilon_greedy(epsilon=0.5)", runs=64, force=True)
    found = dict(sensitivity(log, made))
    np.testing.assert_array_equal(found["no correction (raw)"], made.naive)
    assert "quoted, in the world gaussian" in found
    assert "quoted, if the rule were epsilon_greedy(epsilon=0.25)" in found
    wrapped = as_policy("floor(batched(ucb(c=1), size=5), probability=0.1)")
    assert str(with_core(wrapped, as_policy("ucb(c=2)"))) == str(wrapped).replace("c=1", "c=2")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_the_picture(result, tmp_path, ending):
    result.plot(tmp_path / f"picture.{ending}")
    data = (tmp_path / f"picture.{ending}").read_bytes()
    assert len(data) > 5000
    if ending in ("svg", "html"):
        assert b"raw mean" in data
        assert b"<script" not in data
    with pytest.raises(db.InputError, match="picture"):
        result.plot(tmp_path / "picture.gif")


def test_many_arms_and_no_rounds():
    """Of very many arms only some have a line; a table of totals has no course."""
    labels = [f"arm {k}" for k in range(40)]
    log = db.ExperimentLog.from_summaries(labels, np.arange(40) + 5, np.linspace(0, 1, 40), np.full(40, 0.1))
    chart = db.debias(log, "uniform", runs=32).plot()
    assert "20 with fewer pulls are left out" in str(chart.to_dict())
    assert "How the experiment went" not in str(chart.to_dict())
