// Detect the libraries that this processor supports. Called in the baseline library.

// 1 if the processor has all extensions that the library "avx2" is compiled for, else 0.
int has_avx2(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
#else
    return 0;
#endif
}
