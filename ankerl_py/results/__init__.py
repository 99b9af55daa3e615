"""What was measured: measures, raw and corrected epochs, results and their store."""
