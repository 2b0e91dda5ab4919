"""What people see in a browser: pages made of values that were already released, without a way to the rows."""
