# For calls without `-s`. The directive `include:` would forget the default target.
workflow.include("workflow/Snakefile", overwrite_default_target=True)
