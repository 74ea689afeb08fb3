"""What a run-time loop carries from iteration to iteration: slots for the names that its body binds."""
