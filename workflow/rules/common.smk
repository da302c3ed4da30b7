# What a job asks for. Memory and minutes grow with the attempt; a GPU is asked for by profiles/gpu.
def grows(amount):
    """Return the function that asks for `amount` at the first attempt, twice that at the second."""

    def asked(wildcards, attempt):
        return amount * attempt

    return asked


# For what may leave: any file is followed back through the jobs that could write it.
def jobs_of(file):
    """Yield every job that could write a file: the name of its rule and its inputs."""
    for each in workflow.rules:
        if each.is_producer(file):
            try:
                yield each.name, list(each.expand_input(each.get_wildcards(file))[0])
            except WorkflowError:
                continue  # a job that cannot be planned writes nothing
