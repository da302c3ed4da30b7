# Each target only calls public commands that docs/install.md and docs/workflow.md show one by one.
PYTHON ?= python3
BIN = .venv/bin
INSTALL = $(BIN)/pip install --quiet --require-hashes
CORES ?= 2

.PHONY: env report lay demo test test-cpus lint words docs remote share pull clean

env: .venv/ready

# Every file is checked against its hash in locks/, what is built from source uses the same builders.
# The small torch for CPUs is on no Python index but torch's own. Where that cannot be reached, or for
# another Python, the torch of the Python index is taken. UNTRIED: we could not reach torch's index.
TORCH_CPU = https://download.pytorch.org/whl/cpu

.venv/ready: pyproject.toml $(wildcard locks/*.txt)
	$(PYTHON) -m venv .venv
	$(INSTALL) --requirement locks/build.txt
	$(INSTALL) --no-deps --no-build-isolation --requirement locks/environment.txt
	$(INSTALL) --no-deps --extra-index-url $(TORCH_CPU) --requirement locks/torch-cpu.txt \
		|| $(INSTALL) --no-deps --requirement locks/torch.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(INSTALL) --no-deps --no-build-isolation --requirement locks/signature.txt \
		|| echo "iisignature was not built (it needs a C++ compiler): set signature_backend: numba"
	$(BIN)/pip check
	touch $@

# The real study's report from the shipped records: no data, no runs. Without the environment of the
# workflow a smaller one is made (no torch, no Snakemake).
REPORT_ENV = $(if $(wildcard .venv/ready),.venv,.venv-report)

report: $(REPORT_ENV)/ready
	PYTHONPATH=src $(REPORT_ENV)/bin/python -m deepcac_study.report.site.shipped study

.venv-report/ready: locks/report.txt
	$(PYTHON) -m venv .venv-report
	.venv-report/bin/pip install --quiet --require-hashes --no-deps --requirement locks/report.txt
	touch $@

# With the configuration `shipped=all` they count as finished runs.
lay: env
	$(BIN)/python -m deepcac_study.records.record_archive lay docs/results/records results

# Without an index or a mirror the real tables are left out, as the second call says.
demo: env
	$(BIN)/snakemake --configfile config/demo.yaml --cores $(CORES) -- optional >/dev/null 2>&1 || true
	$(BIN)/snakemake --configfile config/demo.yaml --cores $(CORES) everything

test: env
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -n $(CORES) --dist loadfile -m "not long"

# The numeric tests as on two other kinds of CPU, and with two threads.
test-cpus: env
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/cpus.py

lint: env words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

# What programs and tables put on a page.
SHOWN = 'src/*.html' 'src/*/declarations.yaml' 'src/deepcac/table/*.py' \
	src/deepcac/judging/questions.py 'src/deepcac_study/report/*.py' \
	'src/deepcac_study/papers/*.py' 'src/deepcac_study/papers/*/claims.csv' \
	'src/deepcac_study/catalogue/*.csv'

# Short pages in plain English.
words: env
	$(BIN)/python docs/words.py README.md $(filter-out docs/gallery-%,$(wildcard docs/*.md)) \
		docs/results/README.md docs/results/claims.csv $$(git ls-files $(SHOWN))

# The pictures of the page on Python are made by the page's own blocks.
docs: env
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/run_blocks.py docs/python.md docs
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python docs/gallery.py docs
	$(BIN)/python docs/command_page.py docs/command.md
	$(BIN)/zensical build --strict --clean
	$(BIN)/python docs/site_links.py site

# REMOTE is a folder, or an address such as s3://bucket/folder; it is kept for the next call.
remote: env
	$(if $(REMOTE),$(BIN)/dvc remote add --local --force --default share '$(REMOTE)')

share: remote
	$(BIN)/snakemake --cores $(CORES) -- share

pull: remote
	$(BIN)/python workflow/scripts/pointers.py pull

# What rules can make again; your own tables and the files of restricted sources stay.
CLEANER = $(firstword $(patsubst %/ready,%/bin/python,$(wildcard .venv/ready .venv-report/ready)))

clean:
	@$(if $(CLEANER),:,echo "make clean: no environment is here; make one first: make env" >&2; exit 1)
	PYTHONPATH=src $(CLEANER) -m deepcac_study.jobs.clearing
