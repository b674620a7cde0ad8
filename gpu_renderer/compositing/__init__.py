"""How layers meet: placing, masking, mattes, blending, groups, glass, motion blur, background, the final picture."""
