// Whole number modulo a positive size, 0 .. size - 1. GLSL does not define the operator % for negative numbers.
int modulo(int value, int size) {
    return value >= 0 ? value % size : size - 1 - (-1 - value) % size;
}
