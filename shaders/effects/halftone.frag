// Dots of ink on paper, in a rotated screen (effects.md 8.9). A cell's mean is of 25 taps. On a canvas it is of all
// pixels: u_means.
#include "effect.glsl"
#include "around.glsl"
#include "cell_means.glsl"

uniform float u_cell_size;
uniform float u_screen_angle;
uniform float u_contrast;
uniform vec4 u_ink_color;
uniform vec4 u_paper_color;
uniform bool u_colorize;
uniform float u_blend_with_original;
#if defined(BAKED) && defined(MEANS)
uniform vec2 u_turn;  // cosine and sine of the screen's angle; exact at right angles, where pixels lie on the edges of cells

vec2 on_screen(vec2 v) {
    return vec2(v.x * u_turn.x + v.y * u_turn.y, v.y * u_turn.x - v.x * u_turn.y);
}
#else
vec2 on_screen(vec2 v) {
    return turned(v, -radians(u_screen_angle));
}
#endif

const float TAPS = 5.0;

float luma(vec3 c) {
#ifdef BAKED
    return luma709(c);
#else
    return luma601(c);
#endif
}

float cell() {
    return max(2.0, floor(u_cell_size + 0.5));
}

// Taps count between the centres of the layer's outermost px. The alpha is 0 without taps.
vec4 taps_of(vec2 index) {
    vec4 sum = vec4(0.0);
    for (float y = 0.0; y < TAPS; y++) {
        for (float x = 0.0; x < TAPS; x++) {
            vec2 tap = turned((index + (vec2(x, y) + 0.5) / TAPS) * cell(), radians(u_screen_angle)) + 0.5;
            bool counts = all(greaterThanEqual(tap, vec2(0.5))) && all(lessThanEqual(tap, extent() - 0.5));
            if (counts) sum += vec4(encoded_at(tap).rgb, 1.0);
        }
    }
    return vec4(sum.rgb / max(1.0, sum.a), min(sum.a, 1.0));
}

void main() {
#ifdef CELLS
    put(taps_of(floor(v_frame)));
#else
    vec2 q = place();
    if (!inside(q)) {
        put_erased();
        return;
    }
    vec2 r = on_screen(q - 0.5), index = quotient(r, vec2(cell())), middle = (index + 0.5) * cell();
    vec4 mean = mean_of(index);
    if (mean.a == 0.0) {  // a cell without taps leaves its pixels unchanged
        put_through();
        return;
    }
    float radius = sqrt(clamp((1.0 - luma(mean.rgb)) * max(0.01, u_contrast / 100.0), 0.0, 1.0)) * 0.72 * cell();
    vec3 dot_ = u_colorize ? mean.rgb : u_ink_color.rgb;
    vec4 c = encoded_here();
    vec3 screen = distance(r, middle) <= radius ? dot_ : u_paper_color.rgb;
    put_color(c, mix(screen, c.rgb, u_blend_with_original / 100.0));
#endif
}
