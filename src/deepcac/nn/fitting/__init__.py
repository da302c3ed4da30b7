"""How a network is trained: batches, losses, stopping, pre-training."""
