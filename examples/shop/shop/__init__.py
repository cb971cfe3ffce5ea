"""A small shop; its state is as global as real state tends to be."""
