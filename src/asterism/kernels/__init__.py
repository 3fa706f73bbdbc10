"""Loops: arrays in, arrays out. Numba, so that everyone can read and change them.

Kernels release the GIL and never start threads: parallelism lives in ``engines`` alone.
"""
