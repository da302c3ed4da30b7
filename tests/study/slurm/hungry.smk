# One job that needs more memory than its first attempt asks for, and less than its second.
include: "../../../workflow/rules/resources.smk"


rule hungry:
    output:
        "results/fed.txt",
    resources:
        mem_mb=grows(600),
        runtime=grows(5),
    shell:
        "python -c 'import time; rows = 600 * 2**20 * b\"x\"; time.sleep(20)' && touch {output}"
