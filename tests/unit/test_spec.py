"""Specifications are read as literals; what does not fit is answered with what there is."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import debandit as db
from debandit.policies import policy_from_text
from debandit.spec import parse
from debandit.worlds import bootstrap_from_text, world_from_text


def test_names_numbers_words_and_lists():
    assert parse("ucb", "x") == ("ucb", {})
    assert parse(" f(a=1, b=-2.5, c='s', d=word, e=[1, [2]]) ", "x") == (
        "f",
        {"a": 1, "b": -2.5, "c": "s", "d": "word", "e": [1, [2]]},
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ucb(",
        "ucb(1)",
        "ucb(**x)",
        "ucb(c=__import__('os').system('true'))",
        "ucb(c=open('x'))",
        "ucb(c=1)(d=2)",
        "a.b(c=1)",
        "lambda: 0",
        "ucb(c=" + "(" * 500 + ")" * 500 + ")",
        "\0",
        "ucb(c=9**9**9)",
    ],
)
def test_nothing_is_evaluated(text):
    with pytest.raises(db.InputError, match="cannot read"):
        policy_from_text(text)


@given(st.text(max_size=60))
def test_any_text_gives_a_rule_or_a_clear_error(text):
    with contextlib.suppress(db.InputError):
        assert str(policy_from_text(text))


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(db.InputError, match=r"Did you mean thompson\?(.|\n)*epsilon_greedy\(epsilon=0.05\)"):
        policy_from_text("tompson")
    with pytest.raises(db.InputError, match=r"ucb has no option 'd'(.|\n)*ucb\(c=1.0\)"):
        policy_from_text("ucb(d=1)")
    with pytest.raises(db.InputError, match=r"normal needs sds(.|\n)*normal\(means=..., sds=...\)"):
        world_from_text("normal(means=[1,2])")
    with pytest.raises(db.InputError, match="weights must be gaussian or rademacher"):
        bootstrap_from_text("multiplier(weights=poisson)").fit(db.ExperimentLog(["a", "b"], [1, 2]))


@pytest.mark.parametrize(
    "text",
    [
        "normal(means=[1], sds=[1])",
        "normal(means=1, sds=1)",
        "normal(means=[1,2], sds=[1,-1])",
        "normal(means=[1,2,3], sds=[1,1])",
        "normal(means=['a','b'], sds=[1,1])",
        "bernoulli(means=[0.5,1.5])",
        "empirical(samples=[[1],[]])",
        "empirical(samples=[1,2])",
        "empirical(samples=5)",
        "empirical(samples=[])",
        "empirical(samples=[[[1],[2]],[[1],[2],[3]]])",
    ],
)
def test_impossible_worlds(text):
    with pytest.raises(db.InputError):
        world_from_text(text)


def test_worlds_know_their_means():
    assert world_from_text("empirical(samples=[[0,1],[1,2,6]])").means.tolist() == [0.5, 3.0]
    assert world_from_text("multiplier(samples=[[0,1],[1,2,6]], weights=rademacher)").means.tolist() == [0.5, 3.0]
    stack = db.worlds.Empirical([[[0.0, 1.0], [2.0]], [[5.0], [6.0, 7.0]]])
    assert stack.means.tolist() == [[0.5, 2.0], [5.0, 6.5]]
