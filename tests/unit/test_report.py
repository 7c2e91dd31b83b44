"""The picture and the page of a result: what they show, that they stand alone, and that labels do no harm."""

import html
import re
import shlex
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pandas as pd
import pytest

import debandit as db
from debandit.plots import draw_result, svg_of
from debandit.plots.answer import COLOURS, GREY, Drawn
from debandit.policies import as_policy
from debandit.report import report_of
from debandit.report.again import codes_of
from debandit.report.sensitivity import sensitivity, with_core
from debandit.words.assumptions import Assumption, assumption_parts

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
    written = report_of(result, fit=db.check(log, "uniform"), others=others, source="trial.csv")
    page = Page(written)
    assert "script" not in page.tags
    assert written.count("<script") == 0
    assert HOSTILE[:8] in page.text  # shown as text
    assert not [v for k, v in page.attributes if k in ("src", "href") and v and not v.startswith(("#", "data:"))]
    assert not re.search(r"url\((?!#|data:)", written)
    assert len(written) < 2_000_000
    for heading in ("The numbers", "Does the rule fit the log?", "How much depends on the assumptions", "Do it again"):
        assert heading in page.text
    assert "debandit debias trial.csv --policy uniform --world smoothed --runs 64 --control A" in page.text
    assert {"svg", "table", "caption", "main"} <= set(page.tags)
    seen = page.text.replace("\N{NO-BREAK SPACE}", " ")
    for part in result.parts():
        if part.kind == "sentence":
            assert part.content in seen


@pytest.mark.parametrize(
    "typed",
    [
        ["trial.csv", "--arm", "drug", "--reward", "response", "--policy", "ucb", "--seed", "3", "--metric", "patient"],
        [
            *("days.csv", "--policy", "batched(beta_thompson)", "--control", "old"),
            *("--no-control-variates", "--adjust", "batches"),
        ],
        ["ecmo"],
        ["one.csv", "--policy", "beta_thompson", "--arms", "A,B", "--unseen", "0.5,0.3"],
        ["trial.csv", "--arm", "drug", "--reward", "response", "--policy", "greedy", "--force"],
    ],
)
def test_the_code_and_the_command_of_the_page_do_it_again(typed, tmp_path, monkeypatch, capsys):
    """The code is run, and prints what the command printed."""
    from debandit.cli import main
    from debandit.demo import save_log

    monkeypatch.chdir(tmp_path)
    save_log("trial.csv")
    (tmp_path / "days.csv").write_text(
        "day,variant,users,conversions\n1,old,500,20\n1,new,500,31\n2,old,300,14\n2,new,700,40\n"
    )
    (tmp_path / "one.csv").write_text("arm,reward\nA,1\nA,0\nA,1\n")
    arguments = ["debias", *typed, "--runs", "64", "--report", "page.html"]
    monkeypatch.setattr("sys.argv", ["debandit", *arguments])
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    page = Page((tmp_path / "page.html").read_text())
    assert shlex.join(["debandit", *arguments]) in page.text
    code = page.text[page.text.index("import debandit as db") :].split("print(result)")[0] + "print(result)"
    exec(code, {})
    again = capsys.readouterr().out
    assert again == printed
    if "--force" in typed:  # a page made of the result alone knows it, too
        code = codes_of(
            db.debias(db.read_log("trial.csv", arm="drug", reward="response"), "greedy", runs=64, force=True),
            "trial.csv",
            "",
            "",
        )
        assert "--force" in code[0]["text"]
        assert "force=True" in code[1]["text"]


def test_the_code_of_one_of_several_results_has_its_place(log):
    """On which its random numbers depend."""
    found = db.debias_all([log, log], "uniform", runs=64)[1]
    space = {"log": log}
    code = codes_of(found, "trial.csv", "log", "")[1]["text"].removesuffix("print(result)")
    exec(code, space)
    assert str(space["result"]) == str(found)


def test_a_kept_result_is_enough(result, tmp_path, monkeypatch):
    from debandit.cli import main

    monkeypatch.chdir(tmp_path)
    result.to_json("result.json")
    assert main(["report", "result.json", "-o", "page.html"]) == 0
    assert "Does the rule fit the log?" not in (tmp_path / "page.html").read_text()
    assert "The numbers" in (tmp_path / "page.html").read_text()
    assert "result.json" not in (tmp_path / "page.html").read_text()  # which is not the log
    (tmp_path / "broken.json").write_text("{}")
    assert main(["report", "broken.json"]) == 2


def test_what_other_assumptions_give(log):
    made = db.debias(log, "epsilon_greedy(epsilon=0.5)", runs=64, force=True)
    found = {each.what: each.means for each in sensitivity(log, made)}
    np.testing.assert_array_equal(found["no correction (raw)"], made.naive)
    assert "quoted, in the world gaussian" in found
    assert "quoted, if the rule were epsilon_greedy(epsilon=0.25)" in found
    wrapped = as_policy("floor(batched(ucb(c=1), size=5), probability=0.1)")
    assert str(with_core(wrapped, as_policy("ucb(c=2)"))) == str(wrapped).replace("c=1", "c=2")


def test_what_is_said_of_assumptions(result):
    """The sentence names the largest move, and the tables have the numbers."""
    moved, noise = result.quoted + np.array([0.25, -0.5]), np.array([0.01, 0.02])
    others = [Assumption("none", result.naive), Assumption("another", moved, noise)]
    said, *parts = assumption_parts(result, others)
    assert "looks best whatever is assumed" in said.content
    assert f"no number by more than 0.50 ({HOSTILE}, with a Monte-Carlo error of 0.02)" in said.content
    arms, assumptions = (part.content.rows for part in parts if part.kind == "table")
    assert [row["moved"] for row in arms] == [(value, value) for value in moved]
    assert [row["move"] for row in assumptions][1] == pytest.approx(-0.5)
    upside_down = assumption_parts(result, [others[0], Assumption("worse", result.quoted[::-1], noise)])
    assert "looks best under 1 of the 2 assumptions" in upside_down[0].content


def test_the_picture_has_the_limits_that_are_printed(result):
    """Those of the best-looking arm know that it was selected."""
    drawn = draw_result(result).to_dict()["datasets"].values()
    (bars,) = [rows for rows in drawn if set(rows[0]) == {"name", "low", "high"}]
    assert bars[1]["low"] == result.winner.low != result.low[1]
    assert bars[1]["high"] == result.winner.high
    assert bars[0]["low"] == result.low[0]


@pytest.mark.parametrize(("count", "last"), [(7, "arm 6"), (8, "arm 7"), (9, "the other 2")])
def test_arms_beyond_the_colours_share_grey(count, last):
    """The best one, here the first, has the first colour, and each of the others another, as long as there are any."""
    names = [f"arm {k}" for k in range(count)]
    drawn = Drawn.of(db.debias(db.ExperimentLog(names * 9, [*range(count, 0, -1)] * 9), "uniform", runs=8))
    legend = drawn.colour(legend=True).to_dict()["scale"]
    colours = dict(zip(legend["domain"], legend["range"], strict=True))
    assert colours["arm 0"] == COLOURS[0]
    assert [name for name, colour in colours.items() if colour == GREY] == ([last] if count > len(COLOURS) else [])
    assert [*colours][-1] == last
    assert len(set(colours.values())) == len(colours)


def test_pictures_on_one_page_have_ids_of_their_own():
    """But nothing of what is written in them changes."""
    label = 'url(#a) id="b" <i>'
    data = (
        alt.Chart(pd.DataFrame({"x": [1, 2], "name": label}))
        .mark_line(clip=True)
        .encode(x="x:Q", y="x:Q", color="name:N")
    )
    first, second = svg_of(data, "first-"), svg_of(data, "second-")
    ids = [set(re.findall(r'<[^>]* id="([^"]*)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, own in zip((first, second), ids, strict=True):
        assert set(re.findall(r'="url\(#([^)]*)\)"', svg)) <= own
        assert html.escape(label, quote=False) in svg


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


def test_the_best_arm_has_a_histogram_however_many_there_are():
    """The last of ten arms looks best and has the fewest pulls; the report says that one arm is not shown."""
    log = db.ExperimentLog.from_summaries(
        [f"arm {k}" for k in range(10)], 20 - np.arange(10), np.linspace(0, 1, 10), np.full(10, 0.1)
    )
    result = db.debias(log, "uniform", runs=32)
    page = report_of(result)
    shown = page.partition('<figure class="simulated">')[2].partition("</figure>")[0]
    assert shown.count("<svg") == 9
    assert ">arm 9<" in shown
    assert ">arm 8<" not in shown
    assert "Of 10 arms, 1 with fewer pulls is left out." in shown
