"""Pallas' interpret mode on the CPU: settings that must stand before JAX is first imported."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
