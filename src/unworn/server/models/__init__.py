"""Models that travel as ONNX: checked, and run on rows in a process with little memory and time."""
