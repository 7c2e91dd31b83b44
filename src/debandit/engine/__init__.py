"""The compiled simulation loop and the threads that it runs on."""
