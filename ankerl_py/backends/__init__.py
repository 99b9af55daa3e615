"""What talks to the machine and the interpreter: clocks, hardware counters, facts about both."""
