"""The five papers, in the order of the claims table."""

from deepcac_study.papers.cac_v1 import CAC_V1
from deepcac_study.papers.cac_v2 import CAC_V2
from deepcac_study.papers.class_decomposition import CLASS_DECOMPOSITION
from deepcac_study.papers.deepcac import DEEPCAC
from deepcac_study.papers.reference import Paper
from deepcac_study.papers.supervised_kmeans import SUPERVISED_KMEANS

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (CAC_V1, CAC_V2, SUPERVISED_KMEANS, DEEPCAC, CLASS_DECOMPOSITION)
}
