"""Named experiments: a spec file in, trainings that resume, results that tables and docs are generated from."""
