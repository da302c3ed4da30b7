# What a job asks for. Memory and minutes grow with the attempt; a GPU is asked for by profiles/gpu.
def grows(amount):
    """Return the function that asks for `amount` at the first attempt, twice that at the second."""

    def asked(wildcards, attempt):
        return amount * attempt

    return asked
