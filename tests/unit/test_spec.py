"""Specifications are read as literals; what does not fit is answered with what there is."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import debandit as db
from debandit.policies import RULES, as_policy
from debandit.spec import parse
from debandit.worlds import as_bootstrap, as_world


def test_names_numbers_words_and_lists():
    assert parse("ucb") == ("ucb", {})
    assert parse(" f(a=1, b=-2.5, c='s', d=word, e=[1, [2]]) ") == (
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
    with pytest.raises(db.InputError, match=r"cannot read|there is no rule"):
        as_policy(text)


literals = st.one_of(
    st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=3), st.booleans()
)


@given(st.sampled_from(list(RULES)), st.dictionaries(st.sampled_from(["c", "pulls", "epsilon", "alpha"]), literals))
def test_any_options_give_a_rule_or_a_clear_error(name, options):
    with contextlib.suppress(db.InputError):
        assert str(as_policy(f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})"))


@given(st.text(max_size=60))
def test_any_text_gives_a_rule_or_a_clear_error(text):
    with contextlib.suppress(db.InputError):
        assert str(as_policy(text))


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(db.InputError, match=r"Did you mean thompson\?(.|\n)*epsilon_greedy\(epsilon=0.05,"):
        as_policy("tompson")
    with pytest.raises(db.InputError, match=r"ucb has no option 'd'(.|\n)*ucb\(c=1.0,"):
        as_policy("ucb(d=1)")
    with pytest.raises(db.InputError, match=r"normal needs sds(.|\n)*normal\(means=..., sds=...\)"):
        as_world("normal(means=[1,2])")
    with pytest.raises(db.InputError, match="weights must be gaussian or rademacher"):
        as_bootstrap("multiplier(weights=[1])")
    with pytest.raises(db.InputError, match="is not a rule"):
        as_policy(db.UCB)
    with pytest.raises(db.InputError, match="cannot be built from a log"):
        as_bootstrap(db.worlds.Bernoulli([0.5, 0.5]))


@pytest.mark.parametrize(
    "text",
    [
        "normal(means=[1], sds=[1])",
        "normal(means=1, sds=1)",
        "normal(means=[1,2], sds=[1,-1])",
        "normal(means=[1,2,3], sds=[1,1])",
        "normal(means=['a','b'], sds=[1,1])",
        f"normal(means=[1,{'9' * 400}], sds=[1,1])",
        f"empirical(samples=[[1],[{'9' * 400}]])",
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
        as_world(text)


def test_worlds_know_their_means():
    assert as_world("empirical(samples=[[0,1],[1,2,6]])").means.tolist() == [0.5, 3.0]
    assert as_world("multiplier(samples=[[0,1],[1,2,6]], weights=rademacher)").means.tolist() == [0.5, 3.0]
    stack = db.worlds.Empirical([[[0.0, 1.0], [2.0]], [[5.0], [6.0, 7.0]]])
    assert stack.means.tolist() == [[0.5, 2.0], [5.0, 6.5]]
