"""The plain sequential reference of the CAC pass: costs before and after, row by row."""

import numpy as np

ROUNDING = 1e-12


def separation(X, y):
    """Sum over pairs of present classes of the squared distance of their means."""
    means = [X[y == c].mean(axis=0) for c in np.unique(y)]
    return sum(
        float(((means[a] - means[b]) ** 2).sum())
        for a in range(len(means))
        for b in range(a + 1, len(means))
    )


def within(X):
    return float(((X - X.mean(axis=0)) ** 2).sum()) if len(X) else 0.0


def phi(X, y, alpha, sized):
    weight = len(X) if sized else 1
    return within(X) - alpha * weight * separation(X, y) if len(X) else 0.0


def total_cost(X, y, labels, alpha, sized=True):
    d = sum(within(X[labels == j]) for j in np.unique(labels))
    s = sum(
        separation(X[labels == j], y[labels == j]) * ((labels == j).sum() if sized else 1)
        for j in np.unique(labels)
    )
    return d - alpha * s, d, s


def sweep(X, y, labels, k, alpha, sized=True):
    """One Hartigan pass, in place; returns the number of moves."""
    moves = 0
    longest = float((X**2).sum(axis=1).max())
    for i in range(len(X)):
        p = labels[i]
        members = labels == p
        if (members & (y == y[i])).sum() == 1:
            continue
        without = members.copy()
        without[i] = False
        before = phi(X[members], y[members], alpha, sized)
        leave = phi(X[without], y[without], alpha, sized) - before
        enter = np.full(k, np.inf)
        size = max(abs(before), longest)  # of what the changes of cost are differences of
        for j in range(k):
            if j != p:
                mine = labels == j
                plus = mine.copy()
                plus[i] = True
                base = phi(X[mine], y[mine], alpha, sized)
                enter[j] = phi(X[plus], y[plus], alpha, sized) - base
                size = max(size, abs(base))
        slack = ROUNDING * size
        q = int(np.flatnonzero(enter <= enter.min() + slack)[0])
        if enter[q] + leave < -slack:
            labels[i] = q
            moves += 1
    return moves


def cluster(X, y, labels, alpha, k, max_iter=100, sized=True):
    """Passes until none moves a row; returns labels, moves and the costs (pass by pass)."""
    labels = labels.copy()
    moves, costs = [], [total_cost(X, y, labels, alpha, sized)]
    while len(moves) < max_iter and (not moves or moves[-1]):
        moves.append(sweep(X, y, labels, k, alpha, sized))
        costs.append(total_cost(X, y, labels, alpha, sized))
    return labels, moves, np.array(costs)


def gammas(x, c, sums, counts, alpha, sized, sign):
    """Change of every cluster's cost when row x of class c is added (1) or removed (-1)."""

    def cost(sums, counts):
        n = counts.sum(axis=1)
        means = np.divide(sums, counts[:, :, None], where=counts[:, :, None] > 0, out=sums * 0.0)
        present = (counts > 0).sum(axis=1)
        apart = present * (means**2).sum(axis=(1, 2)) - (means.sum(axis=1) ** 2).sum(axis=1)
        square = (sums.sum(axis=1) ** 2).sum(axis=1)
        centre = np.divide(square, n, where=n > 0, out=np.zeros(len(n)))
        return -centre - alpha * np.where(present > 1, apart, 0.0) * (n if sized else 1)

    after, more = sums.copy(), counts.copy()
    after[:, c] += sign * x
    more[:, c] += sign
    return sign * (x @ x) + cost(after, np.maximum(more, 0)) - cost(sums, counts)


def cluster_by_sums(X, y, labels, alpha, k, max_iter=100, sized=True):
    """As `cluster`, from running sums, for more rows; exact ties may fall either way."""
    labels, classes = labels.copy(), int(y.max()) + 1
    moves = []
    while len(moves) < max_iter and (not moves or moves[-1]):
        sums, counts = np.zeros((k, classes, X.shape[1])), np.zeros((k, classes))
        np.add.at(sums, (labels, y), X)
        np.add.at(counts, (labels, y), 1)
        moves.append(0)
        for i, (x, c) in enumerate(zip(X, y, strict=True)):
            p = labels[i]
            if counts[p, c] == 1:
                continue
            enter = gammas(x, c, sums, counts, alpha, sized, 1)
            enter[p] = np.inf
            q = int(enter.argmin())
            if enter[q] + gammas(x, c, sums[[p]], counts[[p]], alpha, sized, -1)[0] < 0.0:
                labels[i] = q
                moves[-1] += 1
                for j, sign in ((p, -1), (q, 1)):
                    sums[j, c] += sign * x
                    counts[j, c] += sign
    return labels, moves
