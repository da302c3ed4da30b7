"""WebKB as supervised clustering: TF-IDF of words, links and co-citations.

Finley and Joachims 2008, section 6.1.2.

The paper prints four clusterings (universities) of on average 1,041 pages in k = 6 clusters. The
archive has 4,162 pages of these in seven classes, 1,040.5 per university, so every class is
included. There are six if the one department page of each university counts as "other"; this is
our reading, the paper does not say.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn.preprocessing import normalize

from deepcac.errors import DataError
from deepcac.types import Ids
from deepcac_study.cohort import Flow, steps
from deepcac_study.features.pairwise import PairwiseData
from deepcac_study.sources.webkb import UNIVERSITIES

CLASSES = ("course", "faculty", "other", "project", "staff", "student")
LINKED, COCITED = 0, 1


def webkb(
    pages: pa.Table, words: pa.Table, links: pa.Table, *, linked: bool, unit: bool = False
) -> PairwiseData:
    """Build WebKB-N, or WebKB-L with the features of linked and co-cited pairs.

    Rows are the pages of the four universities, in page order. In WebKB-L a pair of pages of one
    university has region 0 when one links to the other, and region 1 when one page of the archive
    links to both. `unit` scales the words of each page to length 1.
    """
    university_pages = pages.filter(pc.is_in(pages["university"], pa.array(UNIVERSITIES)))
    if university_pages.num_rows == 0:
        raise DataError(f"no page of {', '.join(UNIVERSITIES)}; extract the archive again")
    row_id = university_pages["page"].to_numpy().astype(np.int64)
    group = np.array(university_pages["university"].to_pylist(), dtype=str)
    nodes, names = tf_idf(words, row_id, unit=unit)
    first, second, marks = _no_pairs()
    if linked:
        first, second, marks = _link_pairs(links, row_id, group, pages.num_rows)
    return PairwiseData(
        row_id,
        _labels(university_pages),
        group,
        nodes,
        names,
        first,
        second,
        marks,
        products=linked,
    )


def webkb_cohort(
    pages: pa.Table, words: pa.Table, links: pa.Table, *, linked: bool, unit: bool = False
) -> tuple[PairwiseData, Flow]:
    """Build the data set (`webkb`), and its cohort flow in pages."""
    data = webkb(pages, words, links, linked=linked, unit=unit)
    counts = {"pages": pages.num_rows, "pages of the four universities": len(data.row_id)}
    return data, steps(counts)


def tf_idf(
    words: pa.Table, row_id: Ids, *, unit: bool = False
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return TF-IDF weights (n, words) of the pages `row_id`, and the words.

    A weight is the word count times log(n / pages with the word). Pages ascend; words are in
    alphabetical order; one on every page has weight 0 and is left out. `unit` scales each row to
    length 1; an empty one stays 0.
    """
    words = words.filter(pc.is_in(words["page"], pa.array(row_id)))
    row = np.searchsorted(row_id, words["page"].to_numpy())
    names, column = np.unique(words["word"].to_numpy(), return_inverse=True)
    idf = np.log(len(row_id) / np.bincount(column, minlength=len(names)))
    value = words["count"].to_numpy() * idf[column]
    matrix = sparse.csr_array((value, (row, column)), shape=(len(row_id), len(names)))
    weighted = np.flatnonzero(idf > 0)
    informative = sparse.csr_array(matrix[:, weighted])
    return (normalize(informative) if unit else informative), tuple(names[weighted].tolist())


def _labels(pages: pa.Table) -> Ids:
    """Return class ids; departments count as other pages."""
    kinds = pc.if_else(pc.equal(pages["class"], "department"), "other", pages["class"])
    return pc.index_in(kinds, value_set=pa.array(CLASSES)).to_numpy().astype(np.int64)


def _no_pairs() -> tuple[Ids, Ids, sparse.csr_array]:
    none = np.empty(0, dtype=np.int64)
    return none, none, sparse.csr_array((0, 0))


def _link_pairs(
    links: pa.Table, row_id: Ids, group: npt.NDArray[np.str_], n_pages: int
) -> tuple[Ids, Ids, sparse.csr_array]:
    """Return both ends and the marks (linked, cocited) of each related pair of pages."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    cites = sparse.csr_array((np.ones(len(source)), (source, target)), shape=(n_pages, n_pages))
    cites = sparse.csr_array(cites[:, row_id])
    within = cites[row_id]
    regions = [_upper(within + within.T, group), _upper(cites.T @ cites, group)]
    keys = np.concatenate([i * len(row_id) + j for i, j in regions])
    pairs, pair = np.unique(keys, return_inverse=True)
    column = np.repeat([LINKED, COCITED], [len(i) for i, _ in regions])
    marks = sparse.csr_array((np.ones(len(pair)), (pair, column)), shape=(len(pairs), 2))
    return pairs // len(row_id), pairs % len(row_id), marks


def _upper(related: sparse.sparray, group: npt.NDArray[np.str_]) -> tuple[Ids, Ids]:
    """Return the positions i < j of related pages of one university."""
    pairs = related.tocoo()
    upper = (pairs.row < pairs.col) & (group[pairs.row] == group[pairs.col])
    return pairs.row[upper].astype(np.int64), pairs.col[upper].astype(np.int64)
