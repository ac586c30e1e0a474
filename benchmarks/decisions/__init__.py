"""Many sequences of decisions, with crashes in them."""
