"""The five papers, in the order of the claims table."""

from deepcac.papers.cac_v1 import CAC_V1
from deepcac.papers.cac_v2 import CAC_V2
from deepcac.papers.class_decomposition import CLASS_DECOMPOSITION
from deepcac.papers.deepcac import DEEPCAC
from deepcac.papers.reference import Paper
from deepcac.papers.supervised_kmeans import SUPERVISED_KMEANS

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (CAC_V1, CAC_V2, SUPERVISED_KMEANS, DEEPCAC, CLASS_DECOMPOSITION)
}
