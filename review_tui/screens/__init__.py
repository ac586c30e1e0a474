"""The queue and the dialogs over it; a dialog answers a typed value."""
