# Resources. Memory and minutes grow with the attempt; a GPU is asked for by a profile.
def grows(amount):
    """Return the function that asks for `amount` at the first attempt, twice that at the second."""

    def request(wildcards, attempt):
        return amount * attempt

    return request


def memory_of(step):
    """Return the function that asks for the memory of a step of the registry."""

    def request(wildcards, attempt):
        return step(wildcards)["mem_mb"] * attempt

    return request
