"""The paper's rivals, trained and scored under the one protocol of this library; see docs/rivals.md."""
