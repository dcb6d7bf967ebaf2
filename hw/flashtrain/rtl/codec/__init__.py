"""The window code (`flashtrain.spec.codec`): encoder and decoder lane."""
