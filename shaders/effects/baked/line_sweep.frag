// Wipes in lines, one after the other (effects.md 8.11).
#include "wipe.glsl"

uniform float u_line_count;
uniform float u_angle;                 // degrees
uniform float u_stagger, u_feather;    // percent
uniform bool u_invert_sweep;

float keep() {
    float lines = clamp(floor(u_line_count + 0.5), 1.0, 512.0), stagger = u_stagger / 100.0;
    vec2 along_dir = direction(u_angle), across_dir = vec2(-along_dir.y, along_dir.x);
    float across = clamp(dot(place(), across_dir) / dot(extent(), abs(across_dir)), 0.0, 1.0);
    float along = clamp(dot(place(), along_dir) / dot(extent(), abs(along_dir)), 0.0, 1.0);
    float line = floor(across * lines), feather = max(0.001, u_feather / 100.0);
    float local = clamp((progress() - stagger * line / lines) / max(1.0 - stagger, 1e-6), 0.0, 1.0);
    float share = ramp(local - feather, local + feather, along);
    return u_invert_sweep ? 1.0 - share : share;
}
