"""Arms that come later or leave earlier: what is guessed, what is said, and how a rule chooses among the others."""

import json

import numpy as np
import pytest

import debandit as db
from debandit import cli
from debandit.checking.batch_counts import compare_batches
from debandit.policies import as_policy
from debandit.policies.availability import absent_of
from debandit.readers.reading import read

# C comes on Wednesday, A leaves after Wednesday; 100 users a day
DAYS = {
    "day": ["mon", "mon", "tue", "tue", "wed", "wed", "wed", "thu", "thu"],
    "variant": ["A", "B", "A", "B", "A", "B", "C", "B", "C"],
    "visitors": [50, 50, 40, 60, 30, 40, 30, 50, 50],
    "conversions": [20, 30, 16, 36, 12, 24, 15, 30, 25],
}
THERE = [[True, True, False], [True, True, False], [True, True, True], [False, True, True]]


def table(pulls, **options):
    """A log of 0/1 rewards with these pulls (batches, arms); None: no row."""
    cells = [(b, k, n) for b, each in enumerate(pulls) for k, n in enumerate(each) if n is not None]
    days, arms, counts = zip(*cells, strict=True)
    names = [f"day {day + 1}" for day in days]
    means = [round(n / 2) / max(n, 1) for n in counts]
    labels = list("ABCD")[: len(pulls[0])]
    return db.ExperimentLog.from_batches(
        names, [labels[k] for k in arms], counts, means, binary=True, labels=labels, **options
    )


@pytest.mark.parametrize(
    ("pulls", "expected"),
    [
        ([[50, None], [50, 50]], [[1, 0], [1, 1]]),  # came later: 50 users are 25 for each of two arms
        ([[19, None], [50, 50]], [[1, 1], [1, 1]]),  # 19 are fewer than ten for each
        ([[50, 0], [50, 50]], [[1, 1], [1, 1]]),  # a row without users: it was there
        ([[19, None], [20, None], [50, 50]], [[1, 0], [1, 0], [1, 1]]),  # one batch that is large enough tells
        ([[50, 50], [50, None]], [[1, 1], [1, 0]]),  # left: half of 50 users would have been 25
        ([[50, 50], [19, None]], [[1, 1], [1, 1]]),  # half of 19 are fewer than ten
        ([[91, 9], [1000, None]], [[1, 1], [1, 0]]),  # 9 of 100 would have been 90 of 1,000
        ([[91, 9], [100, None]], [[1, 1], [1, 1]]),
        ([[50, 50], [50, 0]], [[1, 1], [1, 1]]),
        ([[None, 50], [50, None]], [[0, 1], [1, 1]]),  # had all users to itself, so its share says nothing
        ([[50, None], [None, 50], [50, 50]], [[1, 0], [1, 1], [1, 1]]),  # an absence in between is chance
    ],
)
def test_what_is_guessed(pulls, expected):
    log = table(pulls)
    assert log.batches.available.astype(int).tolist() == expected
    everywhere = table(pulls, available="all")
    assert everywhere.batches.available.all()
    assert everywhere.absences == []
    assert (log.sha256 == everywhere.sha256) == log.batches.available.all()


def test_what_is_given():
    pulls = [[50, None], [50, 50], [50, None]]
    mask = [[True, False], [True, True], [True, True]]
    log = table(pulls, available=mask)
    assert log.batches.available.tolist() == mask
    assert log.absences == ["not available: B before 'day 2'"]
    assert not log.batches.available.flags.writeable
    holes = table([[50, 50], [50, None], [50, 50]], available=[[True, True], [True, False], [True, True]])
    assert holes.absences == ["not available: B in some batches"]
    for bad, message in (
        (mask[:2], "3 batches and 2 arms need"),
        ([[1, 0]] * 3, "3 batches and 2 arms need"),
        ([[True, False]] * 3, "arm 2 was pulled in batch 2, so it was available"),
        ("some", "available must be|auto"),
    ):
        with pytest.raises(db.InputError, match=message):
            table(pulls, available=bad)


def test_what_is_said(tmp_path, capsys):
    found = read(DAYS, batched=True)
    assert found.log.batches.available.tolist() == THERE
    for part in ("no rows of A after 'wed', C before 'wed'", "depends on the rule"):
        assert part in found.log.notes[-1]
    file = tmp_path / "days.csv"
    file.write_text("\n".join([",".join(DAYS), *(",".join(map(str, row)) for row in zip(*DAYS.values(), strict=True))]))
    assert cli.main(["describe", str(file)]) == 0
    told = capsys.readouterr()
    assert (told.out + told.err).count("C before 'wed'") == 1
    assert "--available" not in told.out.partition("Next")[2]
    assert cli.main(["describe", str(file), "--available", "all"]) == 0
    told = capsys.readouterr()
    assert "'wed'" not in told.out + told.err
    assert "--available all" in told.out.partition("Next")[2]
    assert cli.main(["check", str(file), "--policy", "batched(uniform)"]) == 0
    assert "note: treated as not available: A in 'thu', C from 'mon' to 'tue' (if every arm" in capsys.readouterr().out
    assert cli.main(["check", str(file), "--policy", "batched(uniform)", "--available", "all"]) == 1
    assert cli.main(["debias", str(file), "--policy", "ucb", "--available", "all"]) == 2
    assert "only for tables of counts with batches" in capsys.readouterr().err
    with pytest.raises(db.InputError, match="only for tables of counts with batches"):
        read({"arm": ["a", "b"], "reward": [0, 1]}, available="all")


def test_what_was_used_is_kept_and_said(tmp_path):
    """The rows look the same to all rules; what is made of them depends on the rule, so the result says it."""
    log = read(DAYS, batched=True).log
    result = db.debias(log, "batched(uniform)", runs=50)
    assert result.settings.absent == {"A": [["thu", "thu"]], "C": [["mon", "tue"]]}
    assert "note: treated as not available: A in 'thu', C from 'mon' to 'tue'" in str(result)
    result.to_json(tmp_path / "r.json")
    assert db.Debiased.from_json(tmp_path / "r.json").settings == result.settings
    greedy = db.debias(log, "batched(greedy)", runs=50, force=True)
    assert greedy.settings.absent == {"C": [["mon", "tue"]]}
    assert any(text.startswith("A: treated as available in batches without a row") for text in greedy.warnings)
    assert "A: treated as available" in str(db.check(log, "batched(greedy)"))
    everywhere = db.debias(read(DAYS, batched=True, available="all").log, "batched(uniform)", runs=50, force=True)
    assert everywhere.settings.absent == {}
    assert "available" not in str(everywhere).partition("warning")[0]
    document = json.loads((tmp_path / "r.json").read_text())
    del document["settings"]["absent"]  # a file from before there was any
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert db.Debiased.from_json(tmp_path / "old.json").settings.absent == {}


def test_an_arm_that_the_rule_rarely_chooses_is_not_taken_to_come_later():
    """Of 100 users a day C gets 1 % or 10 %: 3 or 30 are to be expected before its first row on the fourth day."""
    log = table([[50, 50, None], [48, 52, None], [51, 49, None], [49, 49, 2]])
    assert not log.batches.available[:3, 2].any()
    for share, late in ((0.01, False), (0.1, True)):
        rest = (1 - share) / 2
        ran = as_policy(f"batched(fixed_weights(weights=[{rest},{rest},{share}]))").in_log(log)
        assert bool(absent_of(ran, log, log.batches)) == late
        assert absent_of(ran.in_log(log), log, log.batches) == absent_of(
            ran, log, log.batches
        )  # asking twice changes nothing


def in_log(rule, **options):
    log = read(DAYS, batched=True, **options).log
    return log, as_policy(rule).in_log(log)


def test_the_rule_of_such_a_log():
    """Its text is the one of any batched rule; rules without randomness give arms up, so that none has left."""
    _, policy = in_log("batched(uniform)")
    assert str(policy) == "batched(uniform, size=(100, 100, 100, 100))"
    assert policy.conditions(3, 400).available.tolist() == THERE
    _, greedy = in_log("batched(greedy)")
    assert greedy.conditions(3, 400).available.tolist() == [*THERE[:3], [True, True, True]]
    _, floored = in_log("floor(batched(greedy), probability=0.1)")  # which the floor makes randomised
    assert floored.conditions(3, 400).available.tolist() == THERE
    given = db.ExperimentLog.from_batches(
        DAYS["day"], DAYS["variant"], DAYS["visitors"], [0.5] * 9, [1.0] * 9, available=np.array(THERE)
    )
    assert as_policy("batched(greedy)").in_log(given).conditions(3, 400).available.tolist() == THERE
    assert in_log("batched(uniform)", available="all")[1] == db.Batched(db.Uniform(), size=(100,) * 4)
    _, follows = in_log("batched(softmax(temperature=0.001))")  # B has had the highest mean: it gave A up itself
    assert follows.conditions(3, 400).available.tolist() == [*THERE[:3], [True, True, True]]
    for rule in ("exp3", "etc"):
        with pytest.raises(db.InputError, match=f"{rule} needs the order of the rounds(.|\n)*--available all"):
            in_log(f"batched({rule})")


@pytest.mark.parametrize(
    ("rule", "chances"),
    [
        ("batched(uniform)", [[1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]]),
        # weights of arms that are there, divided by their sum
        ("batched(fixed_weights(weights=[5,3,2]))", [[5 / 8, 3 / 8, 0]] * 2 + [[0.5, 0.3, 0.2], [0, 3 / 5, 2 / 5]]),
        # B has the highest mean all along; epsilon is shared by the arms that are there
        (
            "batched(epsilon_greedy(epsilon=0.3))",
            [None, [0.15, 0.85, 0], None, [0, 0.85, 0.15]],
        ),
        # each arm that is there has a tenth, and B the rest
        ("floor(batched(greedy(initial_pulls=1)), probability=0.1)", [None, [0.1, 0.9, 0], None, [0, 0.9, 0.1]]),
        ("warm_up(batched(softmax), rounds=400)", [[1 / 2, 1 / 2, 0]] * 2 + [[1 / 3] * 3, [0, 1 / 2, 1 / 2]]),
    ],
)
def test_chances_among_those_that_are_there_by_hand(rule, chances):
    found = compare_batches(*in_log(rule), 10)
    for row, expected in zip(found.chances, chances, strict=True):
        if expected is not None:
            np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_initial_pulls_of_an_arm_that_comes_later():
    """On Wednesday C has no pull that the rule has heard of, so the arms take turns: 34, 33 and 33 of 100."""
    found = compare_batches(*in_log("batched(epsilon_greedy(initial_pulls=1))"), 10)
    assert found.prescribed.tolist() == [[50, 50, 0], [0, 0, 0], [33, 33, 34], [0, 0, 0]]
    warm = compare_batches(*in_log("batched(warm_up(thompson, pulls=60))"), 10)  # of the two arms of Monday
    assert warm.prescribed.tolist() == [[50, 50, 0], [10, 10, 0], [0, 0, 0], [0, 0, 0]]


def test_what_cannot_be_simulated():
    log, policy = in_log("batched(thompson)")
    with pytest.raises(db.InputError, match="only whole batches"):
        db.simulate(policy, "bernoulli(means=[0.4,0.6,0.5])", horizon=400, runs=2, paths=True)
    with pytest.raises(db.InputError, match=r"this world does not draw(.|\n)*--available all"):
        db.debias(log, "batched(thompson)", world="smoothed", runs=10)


def test_results_can_be_repeated(tmp_path):
    log, _ = in_log("batched(beta_thompson)")
    one, two = (db.debias(log, "batched(beta_thompson)", runs=300, seed=5, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.bias, two.bias)
    one.to_json(tmp_path / "r.json")
    assert db.Debiased.from_json(tmp_path / "r.json").settings.log_sha256 == log.sha256
    other = db.debias(read(DAYS, batched=True, available="all").log, "batched(beta_thompson)", runs=300, seed=5)
    assert one.bias.tolist() != other.bias.tolist()
