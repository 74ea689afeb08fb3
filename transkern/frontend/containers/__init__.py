"""Lists, dicts, sets and objects, also those whose lengths and keys are known at run time only."""
