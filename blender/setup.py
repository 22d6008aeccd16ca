"""Turns the objects of a Blender scene into a scene of sessile, with meshes beside it.

Lengths are in meters. Blender's z axis is up, the run's y axis: (x, y, z) becomes (x, z, -y).
"""

import math
import os

import bpy
import mathutils

TURN = mathutils.Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
"""From z up to y up."""

STILL = 1e-6
"""Changes below this, in m and rad, are rest."""


class SetupError(Exception):
    """The user must change something first."""


def folder_of(scene):
    """The cache folder: beside the file, one per scene."""
    chosen = scene.sessile.folder
    if chosen:
        return os.path.realpath(bpy.path.abspath(chosen))
    if not bpy.data.filepath:
        raise SetupError("Save the file first, or choose a cache folder: drops are kept beside the file")
    stem = os.path.splitext(os.path.basename(bpy.data.filepath))[0]
    return os.path.join(os.path.dirname(bpy.data.filepath), f"{stem}_sessile", bpy.path.clean_name(scene.name))


def write(context):
    """Write `scene.toml` and the meshes to the cache folder; return the file's path and what to tell the user."""
    import sessile

    scene = context.scene
    folder = folder_of(scene)
    os.makedirs(os.path.join(folder, "meshes"), exist_ok=True)
    notices = []
    current = scene.frame_current
    try:
        description = _describe(context, folder, notices)
    finally:
        scene.frame_set(current)
    path = os.path.join(folder, "scene.toml")
    text = sessile.Scene(description, folder=folder).to_toml()
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
    return path, notices


def _describe(context, folder, notices):
    scene = context.scene
    settings = scene.sessile
    fps = scene.render.fps / scene.render.fps_base
    frames = scene.frame_end - scene.frame_start
    if frames < 1:
        raise SetupError("The frame range of the scene has one frame: an animation needs two or more")
    unit = scene.unit_settings.scale_length
    gravity = _y_up(scene.gravity) if scene.use_gravity else mathutils.Vector((0, 0, 0))
    description = {
        "title": scene.name,
        "model": settings.model,
        "seed": settings.seed,
        "time": {"frames": frames, "fps": fps * settings.slow_motion, "start_frame": max(0, scene.frame_start)},
        "render": {"fps": min(max(fps, 0.1), 1000.0)},
        "liquid": {"preset": settings.liquid},
        "world": {"gravity": _vector(gravity, "m/s^2")},
        "resolution": {"cell" if settings.model == "volume" else "edge": f"{settings.resolution!r} m"},
        "materials": {},
        "solids": [],
        "drops": [],
        "emitters": [],
    }
    taking_part = [o for o in scene.objects if o.sessile.role != "NONE" and not o.hide_render]
    poses = _poses(scene, [o for o in taking_part if o.sessile.role == "SOLID"], unit)
    for obj in taking_part:
        _ADD[obj.sessile.role](description, context, obj, folder, unit, poses.get(obj.name), notices)
    if not description["solids"] and not description["drops"]:
        raise SetupError("No object takes part: set the role of an object to Solid or Drop in the Sessile tab")
    if not description["drops"] and not description["emitters"]:
        raise SetupError("There is no liquid: set the role of an object to Drop, Drip or Rain")
    return {key: value for key, value in description.items() if value not in ({}, [])}


def _poses(scene, objects, unit):
    """World matrices of the objects in every frame, in meters, y up; evaluated in the first frame at the end."""
    scale = mathutils.Matrix.Scale(unit, 4)
    found = {obj.name: [] for obj in objects}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for obj in objects:
            found[obj.name].append(TURN @ scale @ obj.matrix_world)
    scene.frame_set(scene.frame_start)
    return found


def _add_solid(description, context, obj, folder, unit, poses, notices):
    if obj.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"}:
        raise SetupError(f"{obj.name} cannot be a solid: it has no surface")
    name = _material(description, obj)
    file = os.path.join("meshes", bpy.path.clean_name(obj.name) + ".obj")
    origin = poses[0].translation.copy()
    topology = _write_mesh(context, obj, os.path.join(folder, file), poses[0], origin)
    solid = {"name": obj.name, "material": name, "shape": "mesh", "file": file, "scale": 1, "move": _vector(origin, "m")}
    rate = description["time"]["fps"]
    if _deforms(context, obj) or not _is_rigid(poses):
        solid["deform"] = _samples(context, obj, folder, poses, origin, topology, rate)
    else:
        motion = _keys(poses, origin, rate)
        if motion:
            solid["motion"] = motion
            solid["interpolation"] = "smooth"
    description["solids"].append(solid)


def _material(description, obj):
    settings = obj.sessile
    if not settings.custom:
        return settings.material
    if settings.receding > settings.advancing:
        raise SetupError(f"{obj.name}: the receding angle must not exceed the advancing angle")
    name = f"{obj.name} wetting"
    angles = {key: f"{math.degrees(getattr(settings, key)):.4f} deg" for key in ("advancing", "receding")}
    description["materials"][name] = angles
    return name


def _add_drop(description, context, obj, folder, unit, poses, notices):
    del poses, notices
    place = TURN @ mathutils.Matrix.Scale(unit, 4) @ obj.matrix_world
    if obj.type == "MESH":
        file = os.path.join("meshes", bpy.path.clean_name(obj.name) + ".obj")
        origin = place.translation.copy()
        _write_mesh(context, obj, os.path.join(folder, file), place, origin)
        description["drops"].append({"shape": "mesh", "file": file, "scale": 1, "move": _vector(origin, "m")})
    else:
        sphere = {"shape": "sphere", "center": _vector(place.translation, "m"), "radius": f"{obj.sessile.radius!r} m"}
        description["drops"].append(sphere)


def _add_drip(description, context, obj, folder, unit, poses, notices):
    del context, folder, poses, notices
    place = TURN @ mathutils.Matrix.Scale(unit, 4) @ obj.matrix_world
    settings = obj.sessile
    description["emitters"].append(
        {
            "kind": "drip",
            "at": _vector(place.translation, "m"),
            "radius": f"{settings.radius!r} m",
            "every": f"{settings.every!r} s",
        }
    )


def _add_rain(description, context, obj, folder, unit, poses, notices):
    del context, folder, unit, poses, notices
    target = obj.sessile.over
    if target is None or target.sessile.role != "SOLID":
        raise SetupError(f"{obj.name}: choose the solid that it rains on")
    description["emitters"].append({"kind": "rain", "over": target.name, "rate": f"{obj.sessile.rate!r} mm/h"})


_ADD = {"SOLID": _add_solid, "DROP": _add_drop, "DRIP": _add_drip, "RAIN": _add_rain}


def _samples(context, obj, folder, poses, origin, topology, rate):
    """Write the evaluated mesh of every frame, in place; return the keys of `deform`."""
    scene = context.scene
    stem = bpy.path.clean_name(obj.name)
    keys = []
    for k, pose in enumerate(poses):
        scene.frame_set(scene.frame_start + k)
        file = os.path.join("meshes", f"{stem}.{k:05}.obj")
        _write_mesh(context, obj, os.path.join(folder, file), pose, origin, topology)
        keys.append({"at": f"{k / rate!r} s", "file": file})
    scene.frame_set(scene.frame_start)
    return keys


def _topology(mesh):
    """Number of vertices, and the polygons' corners."""
    corners = [0] * len(mesh.loops)
    mesh.loops.foreach_get("vertex_index", corners)
    sizes = [0] * len(mesh.polygons)
    mesh.polygons.foreach_get("loop_total", sizes)
    return len(mesh.vertices), corners, sizes


def _write_mesh(context, obj, path, pose, origin, first=None):
    """Write the evaluated mesh as OBJ, relative to `origin`, with texture coordinates.

    Return its topology and triangles. Those of the `first` frame are used in the others, because Blender divides
    polygons by their shape.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        if not mesh.loop_triangles:
            raise SetupError(f"{obj.name} has no faces")
        topology = _topology(mesh)
        if first and topology != first[0]:
            frame = context.scene.frame_current
            raise SetupError(
                f"{obj.name} changes its topology in frame {frame} ({topology[0]} vertices, {first[0][0]} in the first): "
                "a solid needs the same faces in all frames; disable modifiers that add or remove faces over time"
            )
        triangles = [list(zip(triangle.vertices, triangle.loops)) for triangle in mesh.loop_triangles]
        triangles = first[1] if first else triangles
        flip = pose.determinant() < 0
        coordinates = mesh.uv_layers.active.data if mesh.uv_layers.active else None
        lines = []
        for vertex in mesh.vertices:
            lines.append("v %.9g %.9g %.9g" % tuple((pose @ vertex.co) - origin))
        if coordinates:
            lines += ["vt %.9g %.9g" % tuple(corner.uv) for corner in coordinates]
        for corners in triangles:
            corners = corners[::-1] if flip else corners
            lines.append("f " + " ".join(f"{v + 1}/{k + 1}" if coordinates else f"{v + 1}" for v, k in corners))
    finally:
        evaluated.to_mesh_clear()
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(path + ".part", path)
    return topology, triangles


def _is_rigid(poses):
    """Whether the poses differ by rotations and translations alone."""
    first = poses[0].inverted_safe()
    rotations = ((pose @ first).to_3x3() for pose in poses)
    unit = mathutils.Matrix.Identity(3)
    return all(abs(entry) <= 1e-4 for r in rotations for row in (r @ r.transposed() - unit) for entry in row)


def _keys(poses, origin, rate):
    """Keys of a rigid motion, one per frame where it moves; none at rest."""
    first = poses[0].inverted_safe()
    keys, before, moves = [], mathutils.Euler((0, 0, 0)), False
    for frame, pose in enumerate(poses):
        moved = pose @ first
        rotation = moved.to_3x3()
        angles = rotation.to_euler("XYZ", before)
        shift = moved @ origin - origin
        moves = moves or shift.length > STILL or max(abs(angle) for angle in angles) > STILL
        before = angles
        degrees = [round(math.degrees(angle), 6) for angle in angles]
        keys.append(
            {
                "at": f"{frame / rate!r} s",
                "move": _vector(shift, "m"),
                "rotate": f"{degrees[0]!r} {degrees[1]!r} {degrees[2]!r} deg",
            }
        )
    return keys if moves else []


def _deforms(context, obj):
    """Whether the mesh itself changes between the first, the middle and the last frame."""
    scene = context.scene
    shapes = []
    for frame in (scene.frame_start, (scene.frame_start + scene.frame_end) // 2, scene.frame_end):
        scene.frame_set(frame)
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        shapes.append([tuple(vertex.co) for vertex in mesh.vertices])
        evaluated.to_mesh_clear()
    scene.frame_set(scene.frame_start)
    size = max(obj.dimensions) or 1.0
    first = shapes[0]
    for other in shapes[1:]:
        if len(other) != len(first):
            return True
        if any(math.dist(a, b) > 1e-5 * size for a, b in zip(first, other)):
            return True
    return False


def _y_up(v):
    return mathutils.Vector((v[0], v[2], -v[1]))


def _vector(v, unit):
    return f"{v[0]:.9g} {v[1]:.9g} {v[2]:.9g} {unit}"
