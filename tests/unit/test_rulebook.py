"""What is said of each rule: complete, the same in all forms, found by all names."""

import csv
import inspect
import io
import json

import pytest
from commands import fails, flat, run

import debandit as db
from debandit.errors import PresetWarning
from debandit.policies import ADAPTERS, MAKERS, RULES, WRAPPERS, as_policy
from debandit.policies.presets import presets
from debandit.policies.rulebook import Rulebook, find
from debandit.spec import signature

ENTRIES = {entry.name: entry for entry in Rulebook().entries()}
NOBODYS = {"leader_challenger", "uniform", "fixed_weights", "warm_up", "gate", "drop", "quota", "commit_when"}
NOBODYS |= {"stop_when", *ADAPTERS}  # have no source in the literature


def test_all_rules_are_in_it():
    assert list(ENTRIES) == [*RULES, *WRAPPERS, *ADAPTERS]


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_everything_is_said(entry):
    assert entry.rule.title
    assert entry.rule.formula or entry.kind == "package"
    assert bool(entry.rule.source) != (entry.name in NOBODYS)
    inside = ["policy"] * (entry.kind == "around")
    assert [*inside, *(option.name for option in entry.options)] == [name for name, _ in signature(entry.rule)]
    assert all(option.text for option in entry.options)
    told = flat(run("rules", entry.name).stdout)
    for text in (entry.name, entry.rule.title, *entry.rule.formula, entry.rule.source, *entry.other_names):
        assert flat(text) in told
    assert all(option.name in told for option in entry.options)
    documented = inspect.getdoc(entry.rule)
    assert all(f"\n{option.name} : " in documented and option.text in documented for option in entry.options)
    assert inspect.getdoc(entry.rule).splitlines()[0].endswith(".")


def test_limits_and_defaults_are_those_of_the_rule():
    said = {option.name: option for option in ENTRIES["decaying_epsilon_greedy"].options}
    assert (said["power"].default, said["power"].limits) == ("1.0", "0 to 10")
    db.DecayingEpsilonGreedy(power=10)
    with pytest.raises(db.InputError, match="power"):
        db.DecayingEpsilonGreedy(power=10.01)
    assert (said["initial_pulls"].default, said["initial_pulls"].limits) == ("1", "whole, 1 or more")
    assert said["ties"].limits == "first, last or random"
    found = {entry.name: {each.name: each.limits for each in entry.options} for entry in ENTRIES.values()}
    assert found["softmax"]["temperature"] == "above 0"
    assert found["thompson"]["prior_mean"] == "any number"
    assert found["successive_elimination"]["delta"] == "above 0 to 1"
    assert ENTRIES["fixed_weights"].options[0].default == "needed"


def test_platforms_are_those_of_the_presets():
    for name, preset in presets().items():
        with pytest.warns(PresetWarning):
            policy = preset(
                **{option: 0.1 if option == "below" else 9 for option, each in preset.options.items() if each.needed}
            )
        for rule in (policy.core, *policy.layers):
            assert f"preset:{name}" in [platform.preset for platform in ENTRIES[rule.name].platforms]
    assert ENTRIES["floor"].platforms == [("preset:growthbook", "GrowthBook, bandits")]  # Eppo's is an option


@pytest.mark.parametrize("name", [*MAKERS, "UCB", "ucb(1)", "Batched(ucb)"])
def test_every_name_finds_its_rule(name):
    entry = find(name)
    assert name.partition("(")[0].lower() in (entry.name, *entry.other_names)


def test_other_names_that_people_type():
    assert as_policy("UCB") == as_policy("ucb(1)") == db.UCB(1)
    assert as_policy("rpw") == db.PlayTheWinner()
    assert as_policy("eps_greedy(0.1)") == db.EpsilonGreedy(0.1)
    assert as_policy("TS") == as_policy("thompson-sampling") == as_policy("Thompson Sampling") == db.ThompsonSampling()
    assert as_policy("Epsilon Greedy(0.1)") == as_policy("e-greedy(0.1)") == db.EpsilonGreedy(0.1)
    assert as_policy("batched(KL-UCB, size=5)") == as_policy("batched(kl_ucb, size=5)")
    assert find("ucb1").other_names == {"ucb1": str(as_policy("ucb1"))}


def test_the_name_of_a_platform_leads_to_its_preset():
    for typed in ("growthbook", "preset:growthbook"):
        assert "debandit presets growthbook shows it" in fails(2, "rules", typed)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("thomson", "thompson"), ("epsilon-gredy", "epsilon_greedy"), ("klucb", "kl_ucb"), ("bacthed", "batched")],
)
def test_near_misses_are_suggested(typed, meant):
    assert f"Did you mean {meant}?" in fails(2, "rules", typed)
    assert f"Did you mean {meant}?" in fails(2, "simulate", "--policy", typed, "--world", "normal", "--horizon", 9)


def test_every_form_has_the_same():
    table = run("rules").stdout
    rows = list(csv.DictReader(io.StringIO(run("rules", "--format", "csv").stdout)))
    document = json.loads(run("rules", "--format", "json").stdout)
    markdown = run("rules", "--details", "--format", "markdown").stdout
    assert [row["name"] for row in rows] == [rule["name"] for rule in document["rules"]] == list(ENTRIES)
    for row, rule in zip(rows, document["rules"], strict=True):
        assert f"\n{row['name']} " in table or f"\n{row['name']}\n" in table
        assert f"### {row['name']}\n" in markdown
        assert row["options"] == rule["usage"]
        for option in rule["options"]:
            assert f"| {option['name']} | {option['default']} | {option['limits']} | " in markdown
    one = json.loads(run("rules", "ucb", "--format", "json").stdout)
    assert one["options"][0] == {
        "name": "c",
        "default": "1.0",
        "limits": "0 or more",
        "text": find("ucb").options[0].text,
    }
    assert max(map(len, run("rules", "--details").stdout.splitlines())) <= 100
