"""Makes the weights of the model that the reference server ships: corpus, training, measure."""
