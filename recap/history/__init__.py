"""What is known of users, and when: the transition graph, check-ins as tensors, visits, moments."""
