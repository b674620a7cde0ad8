"""Work on pixels that the processor does by compiled loops: decoded frames into pixels or an encoder's planes, and, where OpenGL
runs there too, the layers on top of a frame, and its last two steps: display encoding and the planes of NV12.

    compositor -> coats -> composite.c      layers that are contents and light over what is below them
    layered    -> planes -> composite.c     layers that stand still over footage
    picture, ring        -> kernels.c       display encoding, NV12
    resampling           -> kernels.c       footage of another size than the frame

composite.c takes its steps from numbers.h, coat.h (what it is given), places.h, shapes.h, texels.h, upright.h and blending.h.

A software rasteriser spends five to twenty nanoseconds on each pixel of each pass, libswscale thirteen; the loops spend one to
seven. They give the same bytes as the shaders, which do the work on GPUs, and here where there is no C compiler: `trials` tries the
loops against formulas when they are loaded, `likeness` and others against OpenGL before they are used in a context.
"""
