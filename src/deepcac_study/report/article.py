"""Set the article of the study by Typst."""

import os

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path


def write_article(
    text: str | os.PathLike[str], out: str | os.PathLike[str], project: str | os.PathLike[str]
) -> None:
    """Write the PDF of a Typst text, which may read any file of the project.

    Without Typst it is a `ConfigError`; a fault of the text, or a table that lacks what the text
    asks for, is a `DataError`.
    """
    try:
        import typst
    except ImportError as error:
        raise ConfigError(
            "typst is missing; pip install --require-hashes -r locks/article.txt"
        ) from error
    with atomic_path(out) as partial:
        try:
            pdf = typst.compile(os.fspath(text), root=os.fspath(project), format="pdf")
        except typst.TypstError as error:
            raise DataError(f"{text}: {' '.join(str(error).split())}") from error
        partial.write_bytes(pdf)
