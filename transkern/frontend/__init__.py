"""From Python source and argument types to array statements; the only stage that raises the user's errors."""
