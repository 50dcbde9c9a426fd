"""Named experiments: train what a spec file asks for, resume, measure, and write tables."""
