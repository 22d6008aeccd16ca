"""Values between keys in time, written independently of the program under test."""

# Deviation of the spacing of keys, relative to it, up to which they are evenly spaced.
EVEN = 1e-3
# Differences of fourth order over evenly spaced keys, of second at the ends and where there are only three: first key
# and weights (times the spacing) by the number of keys before and after, at most two each.
EVEN_RATES = {
    (2, 2): (-2, (1 / 12, -2 / 3, 0.0, 2 / 3, -1 / 12)),
    (1, 2): (-1, (-1 / 3, -0.5, 1.0, -1 / 6)),
    (2, 1): (-2, (1 / 6, -1.0, 0.5, 1 / 3)),
    (0, 2): (0, (-1.5, 2.0, -0.5)),
    (2, 0): (-2, (0.5, -2.0, 1.5)),
}


def rate_weights(times, key):
    """Weights by key in the rate at a key."""
    last = len(times) - 1
    first, weights = EVEN_RATES.get((min(key, 2), min(last - key, 2)), (0, ()))
    used = times[key + first : key + first + len(weights)]
    if used:
        spacing = (used[-1] - used[0]) / (len(used) - 1)
        if all(abs(b - a - spacing) < EVEN * spacing for a, b in zip(used, used[1:])):
            return {key + first + i: weight / spacing for i, weight in enumerate(weights)}
    before, after = max(key - 1, 0), min(key + 1, last)
    rate = 1.0 / (times[after] - times[before])
    return {before: -rate, after: rate}


def key_weights(times, time, smooth):
    """Weights of the keys, by index, at a time; outside the keys that of the first or the last."""
    after = sum(1 for key in times if key <= time)
    if after in (0, len(times)):
        return {max(after - 1, 0): 1.0}
    a, b = after - 1, after
    span = times[b] - times[a]
    s = (time - times[a]) / span
    if not smooth:
        return {a: 1.0 - s, b: s}
    # The cubic Hermite curve.
    weights = {a: (1 + 2 * s) * (1 - s) ** 2, b: s * s * (3 - 2 * s)}
    for key, factor in ((a, s * (1 - s) ** 2 * span), (b, s * s * (s - 1) * span)):
        for other, weight in rate_weights(times, key).items():
            weights[other] = weights.get(other, 0.0) + factor * weight
    return weights


def mixed(weights, values):
    """The weighted sum of vectors, by index."""
    return [sum(weight * values[key][axis] for key, weight in weights.items()) for axis in range(3)]
