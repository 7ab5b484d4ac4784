"""What every instrument builds on: frames, stamps, graphs, backward calls, parameters, records."""
