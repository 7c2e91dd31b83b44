"""Specifications are read as literals; what does not fit is answered with what there is."""

import contextlib
import inspect
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import debandit as db
from debandit import worlds
from debandit.policies import ALIASES, RULES, WRAPPERS, as_policy
from debandit.spec import build, parse
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
        "ucb(1, 2)",
        "ucb(1, 2, c=1)",
        "ucb(c=1, c=2)",
        "batched(ucb(c=2, c=2), size=5)",
        "batched(ucb, 5, 6)",
        "batched(5, ucb)",
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


@pytest.mark.parametrize("samples", ["{1, 1, 0}", "[[1, 2], {3, 3, 1}]", "[[1, 2], [{1}]]"])
def test_sets_are_refused(samples):
    """They would lose a reward that is there twice, and weights or sizes their order."""
    for text in (f"empirical({samples})", f"empirical(samples={samples})", f"multiplier({samples})"):
        with pytest.raises(db.InputError, match="cannot read"):
            as_world(text)
    with pytest.raises(db.InputError, match="cannot read"):
        as_policy("fixed_weights(weights={3, 1})")


literals = st.one_of(
    st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=3), st.booleans()
)


@given(st.sampled_from(list(RULES)), st.dictionaries(st.sampled_from(["c", "pulls", "epsilon", "alpha"]), literals))
def test_any_options_give_a_rule_or_a_clear_error(name, options):
    with contextlib.suppress(db.InputError):
        assert str(as_policy(f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})"))


LITERALS = (
    *("{[]: 1}", "{[1]}", "[[]]", "()", "{}", "None", "...", "1j", "b'x'", "nan", "-1", "1e400", "9223372036854775808"),
    *("[9223372036854775808, 1]", "[1e308, 1e308]", "'\\ud800'", "[{}, 1]", "ucb(c=1)", "[[0.5, 0.5], [1]]", "[1]"),
)


@pytest.mark.parametrize("makers", [RULES | WRAPPERS | ALIASES, worlds.GIVEN, worlds.FITTED])
def test_any_literal_gives_something_or_a_clear_error(makers):
    for name, maker in makers.items():
        for value in LITERALS:
            for option in ("", *(f"{each}=" for each in inspect.signature(maker).parameters)):
                inside = "ucb, " * (name in WRAPPERS)
                with contextlib.suppress(db.InputError):
                    assert str(build(f"{name}({inside}{option}{value})", makers, "", "thing"))


@pytest.mark.parametrize(
    "text",
    ["batched(" + 200_000 * "x", 200_000 * "x.py" + "(", "floor(" + 50_000 * "a.py " + ")", "ucb(" + 50_000 * "c=1,"],
)
def test_long_texts_take_no_longer(text):
    """Not with the square of their length: such a text took 20 seconds."""
    start = time.process_time()
    with pytest.raises(db.InputError):
        as_policy(text)
    assert time.process_time() - start < 3


@given(st.text(max_size=60))
def test_any_text_gives_a_rule_or_a_clear_error(text):
    with contextlib.suppress(db.InputError):
        assert str(as_policy(text))


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(
        db.InputError, match=r"Did you mean thompson\? It is written thompson\(prior_(.|\n)*epsilon_greedy"
    ):
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


def test_a_bare_number_is_the_first_option():
    assert as_policy("ucb(2)") == db.UCB(c=2)
    assert as_policy("ucb(-0.0, ties=last)") == db.UCB(c=0, ties="last")
    assert as_policy("batched(ucb(2), 500)") == db.Batched(db.UCB(c=2), size=500)
    assert as_policy("batched(ucb, [5, 7])") == db.Batched(db.UCB(), size=[5, 7])
    assert as_policy("floor(batched(uniform, 5), 0.1)") == db.Floor(db.Batched(db.Uniform(), size=5), 0.1)
    assert as_policy("fixed_weights([1, 3])") == db.FixedWeights([1, 3])
    assert as_world("bernoulli([0.3, 0.6])").means.tolist() == [0.3, 0.6]
    with pytest.raises(db.InputError, match="ucb is given c twice"):
        as_policy("ucb(2, c=3)")
    with pytest.raises(db.InputError, match="uniform has no options"):
        as_policy("uniform(2)")
    with pytest.raises(db.InputError, match="c must be a number from 0"):
        as_policy("ucb('two')")


def test_names_ignore_case():
    assert as_policy("UCB(c=2)") == as_policy("Ucb(2)") == db.UCB(c=2)
    assert as_policy("Batched(Epsilon_Greedy, size=5)") == db.Batched(db.EpsilonGreedy(), size=5)
    assert as_world("Bernoulli(means=[0.3, 0.6])").name == "bernoulli"
    with pytest.raises(db.InputError, match=r"there is no rule 'TOMPSON'(.|\n)*Did you mean thompson"):
        as_policy("TOMPSON")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("TS", "thompson"), ("eps_greedy(0.2)", "epsilon_greedy(epsilon=0.2)"), ("RPW", "play_the_winner")],
)
def test_other_names_that_people_type(typed, meant):
    assert as_policy(typed) == as_policy(meant)
    assert str(as_policy(f"batched({typed}, 10)")) == str(as_policy(f"batched({meant}, 10)"))


def test_ucb1_has_the_root_of_2():
    assert as_policy("ucb1") == db.UCB(c=2**0.5) == as_policy("UCB1(initial_pulls=1)")
    assert as_policy("ucb1(ties=last)").ties == "last"
    assert as_policy("ucb1") != as_policy("ucb(1.41421356)")


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
