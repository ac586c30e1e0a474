"""The values that travel through the layers. They hold data and know nothing of the world."""
