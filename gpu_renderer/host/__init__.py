"""The last two steps of a frame on the processor, where OpenGL runs there too: display encoding and the planes of NV12.

A software rasteriser spends five to ten nanoseconds on each pixel of each pass; the loops of `kernels.c` spend one. They give
the same bytes as the shaders, which do the work on GPUs, and here where there is no C compiler.
"""
