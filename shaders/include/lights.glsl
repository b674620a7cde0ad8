// Shading of a plane by up to eight lights (three-d.md 6.2). Linear straight colours; positions in world px.
// LIT       length of the arrays
// LIGHTS    LIGHT(index, kind, falloff) for each light: software rasterisers run all branches, so others are left out
// SPECULAR  the material reflects lights
// Kinds: 0 point, 1 ambient, 2 spot, 3 parallel. Falloffs: 0 none, 1 smooth, 2 inverse square.

#ifdef LIT
uniform vec3 u_origin;    // world position of the unit square's corner (0, 0)
uniform vec3 u_across;    // sides of the unit square, world px
uniform vec3 u_down;
uniform vec3 u_normal;
uniform vec3 u_eye;
uniform vec4 u_material;  // specular 0..1, shininess, metal 0..1, 1 for faces that are lit on the outer side only
uniform vec3 u_light_colors[LIT + 0];  // linear colour times gain
uniform vec3 u_light_places[LIT + 0];
uniform vec3 u_light_aims[LIT + 0];
uniform vec4 u_light_shapes[LIT + 0];  // radius, falloff distance, half cone and feather in radians

float facing(float cosine) {
    return u_material.w > 0.5 ? max(cosine, 0.0) : abs(cosine);
}

float attenuation(int falloff, vec4 shape, float d) {
    float radius = shape.x;
    if (falloff == 0) {
        return radius <= 0.0 ? 1.0 : max(0.0, 1.0 - d / radius);
    }
    float r = max(1.0, radius);
    if (d <= r) {
        return 1.0;
    }
    return falloff == 1 ? max(0.0, 1.0 - (d - r) / max(1.0, shape.y)) : r * r / (d * d);
}

float cone(vec3 aim, vec4 shape, vec3 from_light) {
    float half_cone = shape.z, feather = shape.w;
    float angle = acos(clamp(dot(aim, normalize(from_light)), -1.0, 1.0));
    if (angle > half_cone) {
        return 0.0;
    }
    return feather > 0.0 ? min(1.0, (half_cone - angle) / feather) : 1.0;
}

struct Shading {
    vec3 point, to_eye, diffuse, specular;
};

void add_light(inout Shading at, int kind, int falloff, vec3 color, vec3 place, vec3 aim, vec4 shape) {
    if (kind == 1) {
        at.diffuse += color;
        return;
    }
    vec3 l = -aim;
    float strength = 1.0, cosine;
    if (kind == 3) {
        cosine = dot(u_normal, aim);
    } else {
        vec3 to_light = place - at.point;
        float d = length(to_light);
        strength = attenuation(falloff, shape, d);
        if (kind == 2 && d > 0.0) {
            strength *= cone(aim, shape, -to_light);
        }
        if (strength <= 0.001) {
            return;
        }
        l = d > 0.0 ? to_light / d : u_normal;
        cosine = d > 0.0 ? dot(u_normal, l) : 1.0;
    }
    at.diffuse += color * strength * facing(cosine);
#ifdef SPECULAR
    vec3 halfway = l + at.to_eye;  // has no direction if the light is exactly opposite
    float h = halfway == vec3(0.0) ? 0.0 : facing(dot(u_normal, normalize(halfway)));
    at.specular += color * strength * pow(h, u_material.y);
#endif
}

// On one line, because GLSL 3.30 has no line continuation.
#define LIGHT(i, kind, falloff) add_light(at, kind, falloff, u_light_colors[i], u_light_places[i], u_light_aims[i], u_light_shapes[i]);

vec3 lit(vec3 base, vec2 unit) {
    vec3 p = u_origin + unit.x * u_across + unit.y * u_down;
    Shading at = Shading(p, normalize(u_eye - p), vec3(0.0), vec3(0.0));
    LIGHTS
    vec3 color = base * clamp(at.diffuse, 0.0, 4.0);
#ifdef SPECULAR
    color += at.specular * u_material.x * mix(vec3(1.0), base, u_material.z);
#endif
    return color;
}
#else
vec3 lit(vec3 base, vec2 unit) {
    return base;
}
#endif
