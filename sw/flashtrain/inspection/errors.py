"""Why an image cannot be inspected, beside the errors of the image itself."""

from flashtrain.spec import FlashtrainError


class InspectionError(FlashtrainError):
    """The image says too little of itself."""
