"""Slow, obvious twins that judge the fast code. Imports nothing from debandit and uses numpy's generator.

Rules are written as in the paper's section 3 with the settings that its tables imply: initial pulls in index order,
ties to the lowest index. Arms and rounds are counted from 0, except in ln t, where the first round is 1.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special, stats


class Rule(NamedTuple):
    """How a rule chooses: decide(t, pulls, sums, rng) is an arm, probability(t, n1, s1, n2, s2) that of arm 2.

    Rules that remember more than totals have `begin(arms)`, called before a run, and `learn(arm, reward)`.
    """

    opening: int
    decide: Callable
    probability: Callable | None = None
    begin: Callable = lambda arms: None
    learn: Callable = lambda arm, reward: None
    chances: Callable | None = None  # of (t, pulls, sums), those of all arms
    in_turns: bool = False  # the arms take turns in the opening

    def opened(self, t, arms):
        """The arm of a round of the opening."""
        return t % arms if self.in_turns else t // self.opening


def first_best(values):
    return max(range(len(values)), key=lambda k: (values[k], -k))


def best_of(values, ties, rng):
    """Who wins among equals: the first, the last, or any of them with the same probability."""
    equal = [k for k, value in enumerate(values) if value == max(values)]
    return equal[0] if ties == "first" else equal[-1] if ties == "last" else int(rng.choice(equal))


def second_wins(first, second, ties):
    share = {"first": 0.0, "last": 1.0, "random": 0.5}[ties]
    return (second > first) + share * (second == first)


def means_of(pulls, sums):
    return [s / n for s, n in zip(sums, pulls, strict=True)]


def ucb(c=1.0, opening=1, ties="first", first_t=1):
    def decide(t, pulls, sums, rng):
        bonus = c * np.sqrt(np.log(t + first_t))
        return best_of([s / n + bonus / np.sqrt(n) for s, n in zip(sums, pulls, strict=True)], ties, rng)

    def probability(t, n1, s1, n2, s2):
        bonus = c * np.sqrt(np.log(t + first_t))
        # equal pulls need equal bonuses, bit for bit: ties of Bernoulli arms are real
        return second_wins(s1 / n1 + bonus / np.sqrt(n1), s2 / n2 + bonus / np.sqrt(n2), ties)

    return Rule(opening, decide, probability)


def etc(pulls=10, ties="first", in_turns=False):
    committed = {}

    def decide(t, counts, sums, rng):
        if "arm" not in committed:
            committed["arm"] = best_of(means_of(counts, sums), ties, rng)
        return committed["arm"]

    def probability(t, n1, s1, n2, s2):
        # with equal exploration the arm with more pulls is the committed one; before that, compare
        return np.where(n1 == n2, second_wins(s1 / n1, s2 / n2, ties), n2 > n1)

    return Rule(pulls, decide, probability, begin=lambda arms: committed.clear(), in_turns=in_turns)


def epsilon_greedy(epsilon=0.05, opening=1, ties="first"):
    def decide(t, pulls, sums, rng):
        return rng.integers(len(pulls)) if rng.random() < epsilon else best_of(means_of(pulls, sums), ties, rng)

    def probability(t, n1, s1, n2, s2):
        return epsilon / 2 + (1 - epsilon) * second_wins(s1 / n1, s2 / n2, ties)

    return Rule(opening, decide, probability)


def thompson(prior_mean=0.0, prior_sd=1.0, noise_sd=1.0, initial_pulls=0, center="posterior"):
    n0 = noise_sd**2 / prior_sd**2

    def location(n, s):
        return (s + n0 * prior_mean) / (n + n0) if center == "posterior" else s / n

    def decide(t, pulls, sums, rng):
        draws = [
            location(n, s) + noise_sd / np.sqrt(n + n0) * rng.standard_normal()
            for n, s in zip(pulls, sums, strict=True)
        ]
        return first_best(draws)

    def probability(t, n1, s1, n2, s2):
        spread = noise_sd * np.sqrt(1 / (n1 + n0) + 1 / (n2 + n0))
        return special.ndtr((location(n2, s2) - location(n1, s1)) / spread)

    return Rule(initial_pulls, decide, probability)


def beta_thompson(alpha=1.0, beta=1.0, opening=0):
    nodes, weights = np.polynomial.legendre.leggauss(80)
    nodes, weights = (nodes + 1) / 2, weights / 2

    def decide(t, pulls, sums, rng):
        return first_best([rng.beta(alpha + s, beta + n - s) for n, s in zip(pulls, sums, strict=True)])

    def probability(t, n1, s1, n2, s2):
        """P(B2 > B1) = E[F1(B2)]: quadrature over B2, whose density is a polynomial when alpha = beta = 1."""
        a1, b1, a2, b2 = (
            np.asarray(x, dtype=float)[..., None] for x in (alpha + s1, beta + n1 - s1, alpha + s2, beta + n2 - s2)
        )
        density = np.exp((a2 - 1) * np.log(nodes) + (b2 - 1) * np.log1p(-nodes) - special.betaln(a2, b2))
        return (special.betainc(a1, b1, nodes) * density) @ weights

    return Rule(opening, decide, probability)


def uniform():
    def decide(t, pulls, sums, rng):
        return rng.integers(len(pulls))

    def probability(t, n1, s1, n2, s2):
        return np.full(np.broadcast_shapes(np.shape(n1), np.shape(s1), np.shape(s2)), 0.5)

    return Rule(0, decide, probability)


def greedy(opening=1):
    def decide(t, pulls, sums, rng):
        return first_best(means_of(pulls, sums))

    return Rule(opening, decide, lambda t, n1, s1, n2, s2: (s2 / n2 > s1 / n1).astype(float))


def decaying_epsilon_greedy(scale=5.0, power=1.0, first_t=1):
    def decide(t, pulls, sums, rng):
        return epsilon_greedy(min(1.0, scale / (t + first_t) ** power)).decide(t, pulls, sums, rng)

    def probability(t, n1, s1, n2, s2):
        return epsilon_greedy(min(1.0, scale / (t + first_t) ** power)).probability(t, n1, s1, n2, s2)

    return Rule(1, decide, probability)


def softmax(temperature=0.1):
    def chances(t, pulls, sums):
        means = np.array(means_of(pulls, sums))
        weights = np.exp((means - means.max()) / temperature)
        return weights / weights.sum()

    def probability(t, n1, s1, n2, s2):
        return special.expit((s2 / n2 - s1 / n1) / temperature)

    return by_chances(1, chances)._replace(probability=probability)


def by_chances(opening, chances):
    """A rule that draws an arm by its chances(t, pulls, sums)."""

    def decide(t, pulls, sums, rng):
        return rng.choice(len(pulls), p=chances(t, pulls, sums))

    def probability(t, n1, s1, n2, s2):
        states = zip(*(np.ravel(x) for x in np.broadcast_arrays(n1, s1, n2, s2)), strict=True)
        return np.array([chances(t, (a, c), (b, d))[1] for a, b, c, d in states])

    return Rule(opening, decide, probability, chances=chances)


def inverse_gap(gamma=100.0, floor=0.0):
    def chances(t, pulls, sums):
        means, arms = means_of(pulls, sums), len(pulls)
        leader = first_best(means)
        shares = [max(floor / arms, 1 / (arms + gamma * (means[leader] - mean))) for mean in means]
        shares[leader] = 1 - sum(share for k, share in enumerate(shares) if k != leader)
        return shares

    return by_chances(1, chances)


def leader_challenger(share=0.8, z=1.96):
    def chances(t, pulls, sums):
        means = means_of(pulls, sums)
        leader = first_best(means)
        bounds = [p + z * math.sqrt(p * (1 - p) / n) for p, n in zip(means, pulls, strict=True)]
        challenger = first_best([-math.inf if k == leader else bound for k, bound in enumerate(bounds)])
        return [(1 - share) / len(pulls) + share / 2 * (k in (leader, challenger)) for k in range(len(pulls))]

    return by_chances(1, chances)


def kl_ucb(c=0.0):
    @functools.cache
    def bound(mean, pulls, t):
        level = (math.log(t) + c * math.log(max(math.log(t), 1.0))) / pulls
        low, high = mean, 1.0
        for _ in range(60):
            q = (low + high) / 2
            entropy = mean * math.log(mean / q) if mean > 0 else 0.0
            if mean < 1 and q < 1:
                entropy += (1 - mean) * math.log((1 - mean) / (1 - q))
            low, high = (low, q) if entropy > level else (q, high)
        return low

    def decide(t, pulls, sums, rng):
        # equal arms tie exactly; others are told apart far above rounding
        return first_best([round(bound(s / n, n, t + 1), 9) for s, n in zip(sums, pulls, strict=True)])

    def probability(t, n1, s1, n2, s2):
        pairs = zip(n1, s1, n2, s2, strict=True)
        return np.array([float(decide(t, (a, c), (b, d), None)) for a, b, c, d in pairs])

    return Rule(1, decide, probability)


def top_two_thompson(leader=0.5, prior_mean=0.0, prior_sd=1.0, noise_sd=1.0, initial_pulls=0):
    n0 = noise_sd**2 / prior_sd**2

    def decide(t, pulls, sums, rng):
        n, s = np.array(pulls), np.array(sums)
        means, widths = (s + n0 * prior_mean) / (n + n0), noise_sd / np.sqrt(n + n0)
        first = np.argmax(means + widths * rng.standard_normal(len(n)))
        if rng.random() < leader:
            return first
        for _ in range(100):
            other = np.argmax(means + widths * rng.standard_normal(len(n)))
            if other != first:
                return other
        return first_best([-np.inf if k == first else means[k] for k in range(len(n))])

    def probability(t, n1, s1, n2, s2):
        """With two arms the challenger is always the other one."""
        second = thompson(prior_mean, prior_sd, noise_sd).probability(t, n1, s1, n2, s2)
        return leader * second + (1 - leader) * (1 - second)

    return Rule(initial_pulls, decide, probability)


def play_the_winner(balls=1.0, added=1.0):
    def urn(pulls, sums):
        losses = [n - s for n, s in zip(pulls, sums, strict=True)]
        others = len(pulls) - 1
        return [balls + added * (s + (sum(losses) - lost) / others) for s, lost in zip(sums, losses, strict=True)]

    def decide(t, pulls, sums, rng):
        content = np.array(urn(pulls, sums))
        return rng.choice(len(pulls), p=content / content.sum())

    def probability(t, n1, s1, n2, s2):
        first, second = urn((n1, n2), (s1, s2))
        return second / (first + second)

    return Rule(0, decide, probability)


def fixed_weights(weights):
    shares = np.array(weights) / np.sum(weights)
    return Rule(0, lambda t, pulls, sums, rng: rng.choice(len(shares), p=shares))


def with_rewards(opening, decide):
    """A rule that looks at every arm's rewards: decide(t, rewards, rng)."""
    rewards = []

    def begin(arms):
        rewards[:] = [[] for _ in range(arms)]

    return Rule(
        opening,
        lambda t, pulls, sums, rng: decide(t, rewards, rng),
        begin=begin,
        learn=lambda arm, reward: rewards[arm].append(reward),
    )


def ucb_tuned():
    def score(values, t):
        share = np.log(t + 1) / len(values)
        return np.mean(values) + np.sqrt(share * min(0.25, np.var(values) + np.sqrt(2 * share)))

    # equal arms tie exactly but for rounding, which is another one here; others are told apart far above it
    return with_rewards(1, lambda t, rewards, rng: first_best([round(score(values, t), 9) for values in rewards]))


def gaussian_thompson(prior_mean=0.0, prior_precision=0.0, opening=2):
    def draw(values, rng):
        precision = len(values) / max(np.std(values, ddof=1), 1e-6) ** 2
        mean = (precision * np.mean(values) + prior_precision * prior_mean) / (precision + prior_precision)
        return mean + rng.standard_normal() / np.sqrt(precision + prior_precision)

    def probability(t, n1, s1, n2, s2):
        """Without a prior, and for 0/1 rewards, whose variance is p (1 - p) n / (n - 1)."""
        variances = [np.maximum(s * (n - s) / n / (n - 1), 1e-12) / n for n, s in ((n1, s1), (n2, s2))]
        return special.ndtr((s2 / n2 - s1 / n1) / np.sqrt(sum(variances)))

    rule = with_rewards(opening, lambda t, rewards, rng: first_best([draw(values, rng) for values in rewards]))
    return rule._replace(probability=probability)


def exp3(gamma=0.1, low=0.0, high=1.0):
    memory = {}

    def begin(arms):
        memory["weights"] = np.ones(arms)

    def decide(t, pulls, sums, rng):
        weights = memory["weights"]
        memory["chances"] = (1 - gamma) * weights / weights.sum() + gamma / len(weights)
        return rng.choice(len(weights), p=memory["chances"])

    def learn(arm, reward):
        arms = len(memory["weights"])
        memory["weights"][arm] *= np.exp(gamma * (reward - low) / (high - low) / memory["chances"][arm] / arms)

    return Rule(0, decide, begin=begin, learn=learn)


def successive_elimination(delta=0.1, sd=1.0):
    left = []

    def begin(arms):
        left[:] = range(arms)

    def decide(t, pulls, sums, rng):
        if len({pulls[k] for k in left}) == 1:
            n, means = pulls[left[0]], means_of(pulls, sums)
            margin = 2 * sd * np.sqrt(2 * np.log(4 * len(pulls) * n**2 / delta) / n)
            best = max(means[k] for k in left)
            left[:] = [k for k in left if means[k] >= best - margin]
        return min(left, key=lambda k: (pulls[k], k))

    return Rule(1, decide, begin=begin)


def ts_postdiff(c=0.1, alpha=1.0, beta=1.0):
    def draws(pulls, sums, rng):
        return [rng.beta(alpha + s, beta + n - s) for n, s in zip(pulls, sums, strict=True)]

    def decide(t, pulls, sums, rng):
        first, second = draws(pulls, sums, rng)
        return rng.integers(2) if abs(first - second) < c else first_best(draws(pulls, sums, rng))

    return Rule(0, decide)


def simulate(rule: Rule, draw: Callable, arms: int, horizon: int, runs: int, seed: int):
    """(pulls, sums) of each run, one round at a time; draw(arm, rng) is a reward."""
    rng = np.random.default_rng(seed)
    all_pulls, all_sums = np.zeros((runs, arms), int), np.zeros((runs, arms))
    for run in range(runs):
        pulls, sums = [0] * arms, [0.0] * arms
        rule.begin(arms)
        for t in range(horizon):
            arm = rule.opened(t, arms) if t < rule.opening * arms else rule.decide(t, pulls, sums, rng)
            reward = draw(arm, rng)
            pulls[arm] += 1
            sums[arm] += reward
            rule.learn(arm, reward)
        all_pulls[run], all_sums[run] = pulls, sums
    return all_pulls, all_sums


def replay(rule: Rule, arms: int, path_arms, path_rewards):
    """The arms that a deterministic rule would have chosen, given what came before."""
    pulls, sums, chosen = [0] * arms, [0.0] * arms, []
    rule.begin(arms)
    for t, (arm, reward) in enumerate(zip(path_arms, path_rewards, strict=True)):
        chosen.append(rule.opened(t, arms) if t < rule.opening * arms else rule.decide(t, pulls, sums, None))
        pulls[arm] += 1
        sums[arm] += reward
        rule.learn(arm, reward)
    return np.array(chosen)


class Wrapping(NamedTuple):
    """What is wrapped around a rule."""

    turns: int = 0  # pulls of each arm in turn before anything else
    uniform: int = 0  # or so many rounds of any arm
    floor: float = 0.0  # the least probability of each arm in rounds that are the rule's own
    size: int = 1  # rounds of a batch
    changes: tuple = ()  # functions of (chances, first round of the batch from 1), from the inside out
    quota: bool = False  # a batch is dealt in fixed shares
    late: int = 0  # what the rule hears of is this many rounds older ...
    late_batches: int = 0  # ... or this many batches
    gate: tuple = ()  # pulls and successes of every arm that must be known before the rule is asked
    draws: int = 0  # the chances of a batch are the shares of this many draws
    commit: tuple = ()  # by what it is decided that an arm gets everything, and the threshold
    stop: tuple = ()  # by what it is decided that the experiment ends, and the threshold


def dealing(chances, count, rng):
    """This many arms: the whole part of n p of each, the rest drawn by the fractions, in any order."""
    hand, fractions = [], []
    for arm, p in enumerate(chances):
        whole = math.floor(count * p + 1e-9)
        hand += [arm] * whole
        fractions.append(max(count * p - whole, 0.0))
    while len(hand) < count:
        hand.append(int(rng.choice(len(chances), p=np.array(fractions) / sum(fractions))))
    rng.shuffle(hand)
    return hand


def mixing(least, decay=0.0):
    def change(chances, t):
        now = [low * t**-decay for low in least]
        return [low + (1 - sum(now)) * p for low, p in zip(now, chances, strict=True)]

    return change


def clipping(least, decay=0.0):
    """Raise what is below the floor, and take it from what all have beyond theirs, in proportion."""

    def change(chances, t):
        now = [low * t**-decay for low in least]
        owed = sum(low - p for low, p in zip(now, chances, strict=True) if p < low)
        rich = sum(p - low for low, p in zip(now, chances, strict=True) if p > low)
        return [low if p <= low else p - owed * (p - low) / rich for low, p in zip(now, chances, strict=True)]

    return change


def tempering(power=None):
    def change(chances, t):
        weights = [p * (1 - p) if power is None else p**power for p in chances]
        return [weight / sum(weights) for weight in weights]

    return change


def dropping(below):
    def change(chances, t):
        left = [p if p >= below else 0.0 for p in chances]
        return [p / sum(left) for p in left]

    return change


def changed_chances(rule, wrapping, known, pulls, sums, begun, rng):
    """The chances of all arms before and after the changes; those of two arms follow from that of the second."""
    if rule.chances:
        chances = list(rule.chances(known, pulls, sums))
    else:
        n1, s1, n2, s2 = (np.array([float(x)]) for x in (pulls[0], sums[0], pulls[1], sums[1]))
        second = float(np.reshape(rule.probability(known, n1, s1, n2, s2), -1)[0])
        chances = [1 - second, second]
    if wrapping.draws:
        best = rng.choice(len(chances), p=chances, size=wrapping.draws)
        chances = [float(np.mean(best == arm)) for arm in range(len(chances))]
    own = chances
    for change in wrapping.changes:
        chances = change(chances, begun + 1)
    return own, chances


def leads_within(share, leader, pulls, sums):
    """P(no Beta(1 + s, 1 + n - s) draw is higher than the leader's by more than a share of it), on a fine grid."""
    draws = [stats.beta(1 + s, 1 + n - s) for n, s in zip(pulls, sums, strict=True)]
    b = draws[leader].ppf((np.arange(2000) + 0.5) / 2000)
    others = [each.cdf(np.minimum(b * (1 + share), 1)) for k, each in enumerate(draws) if k != leader]
    return float(np.prod(others, axis=0).mean())


def favoured(decision, own, chances, pulls, sums):
    """The arm in whose favour it is decided; None: it is not. Without chances only failures are counted."""
    by, threshold = decision
    if by == "failures":
        failed = [n - s >= threshold for n, s in zip(pulls, sums, strict=True)]
        means = [s / n if n else -1.0 for n, s in zip(pulls, sums, strict=True)]
        left = [k for k in range(len(pulls)) if not failed[k]] or list(range(len(pulls)))
        return max(left, key=lambda k: (means[k], -k)) if any(failed) else None
    if own is None:
        return None
    if by == "share":
        best = first_best(chances)
        return best if chances[best] >= threshold else None
    best = first_best(own)
    if by == "probability":
        return best if own[best] >= threshold else None
    return best if leads_within(threshold, best, pulls, sums) >= 0.95 else None


def play(rule: Rule, wrapping: Wrapping, arms: int, horizon: int, reward_of: Callable, rng, arm_of=None):
    """One run, round by round: (arms chosen, rewards, whether the choice was the rule's own).

    `reward_of(t, arm)` is the reward. With `arm_of(t)` that arm is pulled, whatever is chosen.
    """
    pulls, known_pulls, known_sums = [0] * arms, [0] * arms, [0.0] * arms
    made, known, hand, shares, held = [], 0, [], {}, None
    chosen, rewards, own = [], [], []
    rule.begin(arms)
    for t in range(horizon):
        begun = t // wrapping.size * wrapping.size
        while known < begun - wrapping.late_batches * wrapping.size - wrapping.late:
            which, reward = made[known]
            known_pulls[which] += 1
            known_sums[which] += reward
            rule.learn(which, reward)
            known += 1
        lacking = [k for k in range(arms) if pulls[k] < rule.opening]
        least, successes = wrapping.gate or (0, 0)
        closed = min(known_pulls) < least or (successes and min(known_sums) < successes)
        if t == begun and (wrapping.commit or wrapping.stop):
            forced = t < wrapping.turns * arms or t < wrapping.uniform or closed or lacking
            forced = forced or any(n < rule.opening for n in known_pulls)
            both = None, None
            if not forced and {*wrapping.commit, *wrapping.stop} & {"share", "probability", "value"}:
                both = changed_chances(rule, wrapping, known, known_pulls, known_sums, begun, rng)
                shares[begun] = both[1]
            if wrapping.commit and held is None:
                held = favoured(wrapping.commit, *both, known_pulls, known_sums)
            if held is not None and both[1] is not None:
                both = both[0], [float(k == held) for k in range(arms)]
            if wrapping.stop and favoured(wrapping.stop, *both, known_pulls, known_sums) is not None:
                break
        own.append(False)
        if rule.opening == 0 and (t < wrapping.turns * arms or t < wrapping.uniform or closed):
            rule.decide(known, list(known_pulls), list(known_sums), rng)  # Exp3 remembers its last chances
        if held is not None:
            arm = held
        elif t < wrapping.turns * arms:
            arm = t % arms
        elif t < wrapping.uniform:
            arm = int(rng.integers(arms))
        elif closed:
            if wrapping.quota and not hand:
                hand = dealing([1 / arms] * arms, wrapping.size - t % wrapping.size, rng)
            arm = hand.pop() if wrapping.quota else int(rng.integers(arms))
        elif lacking:
            arm = t % arms if rule.in_turns and not wrapping.uniform else lacking[0]
        elif any(n < rule.opening for n in known_pulls):
            arm = t % arms
        else:
            own[-1] = True
            if hand:
                arm = hand.pop()
            elif wrapping.changes or wrapping.quota or wrapping.draws:
                if begun not in shares:  # once for each batch
                    shares[begun] = changed_chances(rule, wrapping, known, known_pulls, known_sums, begun, rng)[1]
                chances, left = shares[begun], wrapping.size - t % wrapping.size
                hand = dealing(chances, left if wrapping.quota else 1, rng)
                arm = hand.pop()
            else:
                arm = rule.decide(known, list(known_pulls), list(known_sums), rng)
            if wrapping.floor > 0 and rng.random() < wrapping.floor * arms:
                arm = int(rng.integers(arms))
        chosen.append(arm)
        pulled = arm if arm_of is None else arm_of(t)
        rewards.append(reward_of(t, pulled))
        pulls[pulled] += 1
        made.append((pulled, rewards[-1]))
    return np.array(chosen), np.array(rewards), np.array(own)


def drifting(arms, effects, size, rng):
    """A reward_of(t, arm) of arms that an effect moves in each period of `size` rounds, all alike, in a cycle.

    An arm is the probability of 1, whose odds are multiplied by exp(effect), or a mean and a standard deviation.
    """

    def reward_of(t, arm):
        effect = effects[t // size % len(effects)]
        if isinstance(arms[arm], tuple):
            mean, sd = arms[arm]
            return rng.normal(mean + effect, sd)
        odds = arms[arm] / (1 - arms[arm]) * math.exp(effect)
        return float(rng.random() < odds / (1 + odds))

    return reward_of


class Exact(NamedTuple):
    """Of a two-armed Bernoulli bandit, without random numbers."""

    bias: np.ndarray  # given that the arm was pulled
    pulls: np.ndarray
    never_pulled: np.ndarray
    state: np.ndarray  # the probability of every (n1, s1, s2) in the end


def enumerate_two_arms(rule: Rule, p1: float, p2: float, horizon: int) -> Exact:
    """Forward pass over the states (n1, s1, s2): the probability of each after every round."""
    state = np.zeros((1, 1, 1))
    state[0, 0, 0] = 1.0
    for t in range(horizon):
        n1, s1, s2 = np.ogrid[: t + 1, : t + 1, : t + 1]
        n2 = t - n1
        reachable = (s1 <= n1) & (s2 <= n2) & (state > 0)
        if t < 2 * rule.opening:
            second = np.full(state.shape, float(rule.opened(t, 2)))
        else:
            where = np.nonzero(reachable)
            second = np.zeros(state.shape)
            a, b, c = (axis.astype(float) for axis in where)
            second[where] = rule.probability(t, a, b, t - a, c)
        to_first, to_second = state * (1 - second), state * second
        state = np.zeros((t + 2, t + 2, t + 2))
        state[1:, 1:, :-1] += to_first * p1
        state[1:, :-1, :-1] += to_first * (1 - p1)
        state[:-1, :-1, 1:] += to_second * p2
        state[:-1, :-1, :-1] += to_second * (1 - p2)
    n1, s1, s2 = np.ogrid[: horizon + 1, : horizon + 1, : horizon + 1]
    n2 = horizon - n1
    bias, pulls, never = [], [], []
    for n, s, p in ((n1, s1, p1), (n2, s2, p2)):
        pulled = n > 0
        mean = np.where(pulled, s / np.maximum(n, 1), 0.0)
        share = (state * pulled).sum()
        bias.append((state * pulled * mean).sum() / share - p)
        pulls.append((state * n).sum())
        never.append((state * ~pulled).sum())
    return Exact(np.array(bias), np.array(pulls), np.array(never), state)
