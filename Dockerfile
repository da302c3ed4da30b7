# The environment of the workflow, as `make env` makes it from locks/. The context is what git tracks.
#   git archive HEAD | docker build -t deepcac - && docker run --rm -v "$PWD/results:/deepcac/results" deepcac \
#     snakemake --configfile config/demo.yaml --cores 2
FROM python:3.11-slim-bookworm

# A compiler for iisignature; git for DVC.
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /deepcac
COPY . .
RUN make env && .venv/bin/pip cache purge
ENV PATH=/deepcac/.venv/bin:$PATH

CMD ["snakemake", "--configfile", "config/demo.yaml", "--cores", "2"]
