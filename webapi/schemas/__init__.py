"""Request and response models and the OpenAPI description."""
