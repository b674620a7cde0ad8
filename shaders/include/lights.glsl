// Shading of a plane by up to eight lights (format/three-d.md 6.2). Linear straight colours; positions in world px.
// Kinds: 0 point, 1 ambient, 2 spot, 3 parallel. Falloffs: 0 none, 1 smooth, 2 inverse square.

#ifdef LIT
uniform vec3 u_origin;    // world position of the unit square's corner (0, 0), and its two sides
uniform vec3 u_across;
uniform vec3 u_down;
uniform vec3 u_normal;
uniform vec3 u_eye;
uniform vec4 u_material;  // specular 0..1, shininess, metal 0..1, 1 for faces that are lit on the outside only
uniform int u_light_count;
uniform ivec2 u_light_kinds[8];   // kind, falloff
uniform vec3 u_light_colors[8];   // linear colour times gain
uniform vec3 u_light_places[8];
uniform vec3 u_light_aims[8];
uniform vec4 u_light_shapes[8];   // radius, falloff distance, half cone and feather in radians

float facing(float cosine) {
    return u_material.w > 0.5 ? max(cosine, 0.0) : abs(cosine);
}

float attenuation(int i, float d) {
    float radius = u_light_shapes[i].x;
    if (u_light_kinds[i].y == 0) {
        return radius <= 0.0 ? 1.0 : max(0.0, 1.0 - d / radius);
    }
    float r = max(1.0, radius);
    if (d <= r) {
        return 1.0;
    }
    return u_light_kinds[i].y == 1 ? max(0.0, 1.0 - (d - r) / max(1.0, u_light_shapes[i].y)) : r * r / (d * d);
}

float cone(int i, vec3 from_light) {
    float half_cone = u_light_shapes[i].z, feather = u_light_shapes[i].w;
    float angle = acos(clamp(dot(u_light_aims[i], normalize(from_light)), -1.0, 1.0));
    if (angle > half_cone) {
        return 0.0;
    }
    return feather > 0.0 ? min(1.0, (half_cone - angle) / feather) : 1.0;
}

vec3 lit(vec3 base, vec2 unit) {
    vec3 p = u_origin + unit.x * u_across + unit.y * u_down;
    vec3 to_eye = normalize(u_eye - p);
    vec3 diffuse = vec3(0.0), specular = vec3(0.0);
    for (int i = 0; i < u_light_count; i++) {
        int kind = u_light_kinds[i].x;
        if (kind == 1) {
            diffuse += u_light_colors[i];
            continue;
        }
        vec3 l = -u_light_aims[i];
        float strength = 1.0, cosine;
        if (kind == 3) {
            cosine = dot(u_normal, u_light_aims[i]);
        } else {
            vec3 to_light = u_light_places[i] - p;
            float d = length(to_light);
            strength = attenuation(i, d);
            if (kind == 2 && d > 0.0) {
                strength *= cone(i, -to_light);
            }
            if (strength <= 0.001) {
                continue;
            }
            l = d > 0.0 ? to_light / d : u_normal;
            cosine = d > 0.0 ? dot(u_normal, l) : 1.0;
        }
        diffuse += u_light_colors[i] * strength * facing(cosine);
        if (u_material.x > 0.0) {
            float h = facing(dot(u_normal, normalize(l + to_eye)));
            specular += u_light_colors[i] * strength * pow(h, u_material.y);
        }
    }
    return base * clamp(diffuse, 0.0, 4.0) + specular * u_material.x * mix(vec3(1.0), base, u_material.z);
}
#else
vec3 lit(vec3 base, vec2 unit) {
    return base;
}
#endif
