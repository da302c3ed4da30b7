# The environment of the workflow; versions are those of constraints.txt. The context is what git tracks.
#   git archive HEAD | docker build -t deepcac - && docker run --rm -v "$PWD/results:/deepcac/results" deepcac \
#     snakemake --configfile config/demo.yaml --cores 2
FROM python:3.11-slim-bookworm

# A compiler for iisignature; git for DVC.
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /deepcac
COPY . .
RUN python -m pip install --no-cache-dir --constraint constraints.txt --editable '.[workflow,clusters,crate]'
RUN python -m pip install --no-cache-dir --constraint constraints.txt setuptools
RUN python -m pip install --no-cache-dir --constraint constraints.txt --no-build-isolation iisignature

CMD ["snakemake", "--configfile", "config/demo.yaml", "--cores", "2"]
