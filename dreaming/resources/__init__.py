"""What ships beside the code: the workspace template, the prompts, the invented sample."""
