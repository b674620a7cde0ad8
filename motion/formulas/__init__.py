"""The format's formulas over plain numbers: keyframes, expressions, outlines, noise, cloners, rigs, text animators.

They know neither layers nor compositions. The renderer uses some of them too.
"""
