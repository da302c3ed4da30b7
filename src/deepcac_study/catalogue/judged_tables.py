"""The part of the configuration on tables that the judge takes in one job each."""

from typing import Annotated

from pydantic import Field

from deepcac.files.declared import Entry
from deepcac_study.catalogue.entries import Id


class Tables(Entry):
    """Tables that are judged in one job each, with less effort, in families of their own."""

    datasets: list[Id] = Field([], description="as `results/judge/tables/{dataset}.json`")
    contenders: list[str] = Field([], description="as in `matches`")
    shapes: list[Id] = Field(
        [],
        description="further data sets whose cheap statistics are wanted, as "
        "`results/judge/shapes/{dataset}.json`",
    )
    resamples: int = Field(10, ge=2, description="as of the judge")
    resamples_small: int = Field(20, ge=2, description="as of the judge")
    resamples_of: dict[str, Annotated[int, Field(ge=2)]] = Field(
        {}, description="data sets that have another number, because they take long"
    )
    small_rows: int = Field(2000, ge=0, description="as of the judge")
    train_rows: int = Field(2000, ge=100, description="as of the judge")
    trials: int = Field(6, ge=1, description="as of the judge")
    network_trials: int = Field(1, ge=1, description="as of the judge")
