"""Tests in a real browser against the real server; no request leaves the machine."""
