"""Work on pixels that the processor does by compiled loops: decoded frames into pixels or an encoder's planes, and, where OpenGL
runs there too, the last two steps of a frame: display encoding and the planes of NV12.

A software rasteriser spends five to ten nanoseconds on each pixel of each pass, libswscale thirteen; the loops of `kernels.c`
spend one. They give the same bytes as the shaders, which do the work on GPUs, and here where there is no C compiler.
"""
