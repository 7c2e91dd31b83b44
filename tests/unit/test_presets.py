"""Presets: the file of data, the options, what is refused and what is warned of."""

import re
import warnings
from pathlib import Path

import pytest

import debandit as db
from debandit.errors import PresetWarning
from debandit.policies import ADAPTERS, ALIASES, RULES, WRAPPERS, as_policy
from debandit.policies.presets import presets

PAGE = (Path(__file__).parents[2] / "docs" / "presets.md").read_text(encoding="utf-8")
NEEDED = {"most": 100_000, "below": 0.1}


def made(text):
    with pytest.warns(PresetWarning):
        return as_policy(text)


def least(preset):
    """It with nothing but what is needed."""
    given = [f"{name}={NEEDED[name]}" for name, option in preset.options.items() if option.needed]
    return f"preset:{preset.name}({', '.join(given)})"


@pytest.mark.parametrize("preset", presets().values(), ids=presets())
def test_every_preset_is_a_rule_whose_options_are_those_of_its_text(preset):
    assert set(re.findall(r"{(\w+)}", preset.rule)) == set(preset.options)
    policy = made(least(preset))
    assert as_policy(str(policy)) == policy
    assert preset.name not in RULES | ALIASES | ADAPTERS | WRAPPERS
    assert preset.states
    assert preset.sources
    assert all(option.default is not None for option in preset.not_stated.values())
    shown = " ".join(str(preset).split())
    (row,) = re.findall(rf"^\| .*`preset:{preset.name}` \|.*$", PAGE, re.MULTILINE)
    described = [option.text for option in preset.options.values()]
    for text in [*preset.options, *described, preset.title, preset.rule, *preset.not_covered, *preset.sources]:
        assert text in shown
        assert text in row
    assert all(text in shown for text in preset.states)


@pytest.mark.parametrize("name", [name for name in presets() if name != "vowpal_wabbit"])
def test_without_a_size_the_batches_are_those_of_the_log(name):
    assert made(least(presets()[name])).needs_batches
    assert not made(least(presets()[name]).replace("(", "(size=500, ")).needs_batches


def test_options():
    assert made("preset:amplitude(2000, alpha=2)") == as_policy(
        "commit_when(gate(batched(beta_thompson(alpha=2), size=2000), pulls=100), share=0.95)"
    )
    assert made("preset:growthbook(size=[300, 400], how=clip)") == as_policy(
        "floor(gate(warm_up(batched(gaussian_thompson(prior_sd=100, draws=10000), size=[300, 400]), rounds=0), "
        "pulls=100), probability=0.01, how=clip)"
    )
    assert made("quota(Preset:Amplitude(2000))") == as_policy(
        "quota(commit_when(gate(batched(beta_thompson, size=2000), pulls=100), share=0.95))"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("preset:growthbok", ["no preset 'growthbok'", "Did you mean growthbook?", "vowpal_wabbit"]),
        ("quota(preset:growthbok(5))", ["no preset 'growthbok'", "Did you mean growthbook?"]),
        ("preset:", ["no preset ''", "There are: growthbook"]),
        ("preset:growthbook(sise=5)", ["no option 'sise'", "growthbook(size=None, window=0, how='mix')"]),
        ("preset:growthbook(size=5", ["cannot read", "growthbook(size=None"]),
        ("preset:growthbook(ucb)", ["takes no rule inside"]),
        ("preset:braze", ["preset:braze needs most", "the planned maximum of users", "most=..."]),
        ("preset:statsig(500)", ["preset:statsig needs most"]),
        ("preset:ax(500)", ["preset:ax needs below", "min_weight"]),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(db.errors.InputError) as error:
        as_policy(text)
    for word in words:
        assert word in str(error.value)


def test_a_value_that_the_rule_does_not_take_is_refused():
    with pytest.warns(PresetWarning), pytest.raises(db.errors.InputError, match="size must be a whole number"):
        as_policy("preset:amplitude(size='5), ucb(')")


def test_a_number_that_cannot_be_printed_is_refused():
    with pytest.warns(PresetWarning), pytest.raises(db.errors.InputError, match="a number of thousands of digits"):
        as_policy(f"preset:amplitude(size=0x{5000 * 'f'})")


def test_what_is_assumed_is_warned_of_until_it_is_said():
    def warned(text):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            as_policy(text)
        (warning,) = caught
        assert warning.category is PresetWarning
        return str(warning.message)

    first = warned("preset:amplitude")
    assert "Assumed, so look it up in the platform: share=0.95. " in first
    assert "Assumed, because it is stated nowhere: alpha=1.0, beta=1.0. " in first
    assert "run debandit check" in first
    assert all(each in first for each in presets()["amplitude"].not_covered)
    assert "Assumed, because it is stated nowhere: beta=1.0. " in warned("preset:amplitude(alpha=1)")
    said = warned("preset:amplitude(alpha=1, beta=1, share=0.95)")
    assert "assumed" not in said
    assert "Not covered: " in said
