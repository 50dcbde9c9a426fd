"""Published models, trained and scored under the protocol of this library; see docs/published-models.md."""
