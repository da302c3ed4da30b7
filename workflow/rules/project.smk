# Where the project's own files are: two folders up; of a module from a repository, a copy of its commit.
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import LocalGitFile


def laid_out(source, folder=Path(".snakemake/modules")):
    """Return a copy of the hosted repository at the commit that a module was taken from."""
    if isinstance(source, LocalGitFile):
        raise WorkflowError(
            "Snakemake does not find the scripts of a module from gitfile(...); take it from "
            "github(...) or gitlab(...), or give the path of a clone"
        )
    source.fetch_if_required()
    git = ["git", "--git-dir", str(source.hosted_repo.repo.git_dir)]
    call = [*git, "rev-parse", f"{source.ref}^{{commit}}"]
    commit = subprocess.run(
        call, check=True, capture_output=True, text=True
    ).stdout.strip()
    copy = folder.absolute() / commit
    if not copy.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(
            [*git, "archive", commit], check=True, capture_output=True
        )
        partial = Path(tempfile.mkdtemp(dir=folder))
        with tarfile.open(fileobj=BytesIO(files.stdout)) as archive:
            archive.extractall(partial, filter="data")
        try:
            partial.rename(copy)
        except OSError:  # another process was first
            assert copy.is_dir()
    return copy


_here = workflow.current_basedir
project = laid_out(_here) if hasattr(_here, "ref") else Path(_here).parents[1]

# Plans and jobs use the package of the clone, whether it is installed or not.
sys.path.insert(0, str(project / "src"))

# The configuration is that of the folder, else the papers'. One that another workflow gives starts empty.
inside_another = workflow.modifier.parent_modifier is not None
in_folder = inside_another or os.path.exists("config/config.yaml")
settings = "config/config.yaml" if in_folder else str(project / "config/config.yaml")

# With a default storage every output goes there: restricted data and tables of one's own are unknown.
provider = workflow.storage_settings.default_storage_provider
bucket = provider not in (None, "", "fs", "none")
