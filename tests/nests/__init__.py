"""Loop nests with known answers: which loops carry a dependence, of which class each is, and what each computes."""
