"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# No deadline: a busy two-core machine is slow now and then, and that is no failure. Derandomised: the same examples on
# every machine, so that a red run can be repeated.
settings.register_profile(
    "recap", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("recap")
