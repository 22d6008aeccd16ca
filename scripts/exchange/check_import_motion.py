"""Imports an animated shot that Blender writes as Alembic, USD, USDZ, glTF and a PLY sequence, and compares the solids
and the camera of the scenes with what Blender evaluates: a box that turns and moves, its mirrored child, a cloth with
shape keys, an image and a normal map, one with a shape key at rest, a rod bent by an armature, a wedge that grows and
one that is mirrored, a subdivision surface, an object of two materials, a moving camera. USD is written in meters with
z up, and in centimeters with y up; glTF also with quantized vertices (by gltfpack).

Arguments: SESSILE FOLDER GLTFPACK.
"""

import math
import pathlib
import subprocess
import sys
import tomllib

import bpy
import numpy as np
from mathutils import Euler, Vector

FPS, FIRST, LAST = 24, 1, 13
COMPARED = (1, 4, 7, 10, 13)
CLOSED = ("Box", "Child", "Mirror", "Grow", "Rod", "Two")
NAMES = (*CLOSED, "Cloth", "Bulge", "Round")
QUANTIZED = 2.5e-5
"""Error of positions of 16 bits, and of shape keys whose weights have 8, in m."""


def picture(folder, name, pixel):
    made = bpy.data.images.new(name, 8, 8)
    made.pixels = [value for y in range(8) for x in range(8) for value in pixel(x, y)]
    made.filepath_raw, made.file_format = str(folder / f"{name}.png"), "PNG"
    made.save()
    return made


def material(name, color, metallic=0.0, roughness=0.5):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1)
    shader.inputs["Metallic"].default_value, shader.inputs["Roughness"].default_value = metallic, roughness
    return made, shader


def textured(folder):
    made, shader = material("Tiles", (1, 1, 1), roughness=0.6)
    tree = made.node_tree
    color = tree.nodes.new("ShaderNodeTexImage")
    color.image = picture(folder, "tiles", lambda x, y: (0.8, 0.2, 0.1, 1) if (x + y) % 2 else (0.1, 0.3, 0.8, 1))
    tree.links.new(color.outputs[0], shader.inputs["Base Color"])
    bumps = tree.nodes.new("ShaderNodeTexImage")
    bumps.image = picture(folder, "bumps", lambda x, _: (0.5 + 0.3 * math.sin(math.tau * x / 8), 0.5, 0.9, 1))
    bumps.image.colorspace_settings.name = "Non-Color"
    normals = tree.nodes.new("ShaderNodeNormalMap")
    tree.links.new(bumps.outputs[0], normals.inputs["Color"])
    tree.links.new(normals.outputs[0], shader.inputs["Normal"])
    return made


def key(owner, path, values):
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def wedge(name, place, scale):
    """A tetrahedron without symmetry, so that a mirrored one is another one."""
    corners = [(0, 0, 0), (0.02, 0, 0), (0, 0.03, 0), (0, 0, 0.01)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    made = bpy.data.objects.new(name, mesh)
    made.location, made.scale = place, scale
    bpy.context.scene.collection.objects.link(made)
    made.data.materials.append(material(f"{name} color", (0.3, 0.3, 0.3))[0])
    return made


def rod(scene):
    """Bent by the second of two bones."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    scene.collection.objects.link(rig)
    rig.location = (0.2, 0.1, 0)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, low in (("Lower", 0.0), ("Upper", 0.03)):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, low), (0, 0, low + 0.03)
    armature.edit_bones["Upper"].parent = armature.edit_bones["Lower"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cylinder_add(vertices=8, radius=0.005, depth=0.06, location=(0, 0, 0.03))
    made = bpy.context.object
    bpy.ops.object.transform_apply()
    made.name, made.parent = "Rod", rig
    made.data.materials.append(material("Rubber", (0.1, 0.1, 0.1))[0])
    upper = [vertex.index for vertex in made.data.vertices if vertex.co.z > 0.03]
    made.vertex_groups.new(name="Upper").add(upper, 1.0, "REPLACE")
    made.vertex_groups.new(name="Lower").add([v.index for v in made.data.vertices if v.index not in upper], 1.0, "REPLACE")
    made.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    key(bone, "rotation_euler", {1: (0.2, 0, 0), 13: (1.2, 0, 0.4)})


def bulge():
    """A sheet with a shape key that nothing animates."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.04, location=(-0.2, -0.1, 0))
    made = bpy.context.object
    made.name = "Bulge"
    made.data.materials.append(material("Cream", (0.9, 0.8, 0.6))[0])
    made.shape_key_add(name="Basis")
    up = made.shape_key_add(name="Up")
    for moved in up.data:
        moved.co.z = 0.01 - 10 * (moved.co.x**2 + moved.co.y**2)
    up.value = 0.5


def shot(folder):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = FIRST, LAST, FPS
    bpy.ops.mesh.primitive_cube_add(size=0.02)
    box = bpy.context.object
    box.name = "Box"
    box.data.materials.append(material("Steel", (0.5, 0.25, 0.1), 1.0, 0.3)[0])
    key(box, "location", {1: (0.1, 0, 0.05), 7: (0.1, 0, 0.05), 13: (0.16, 0, 0.05)})
    key(box, "rotation_euler", {1: (0, 0, 0), 7: (0, 0, math.radians(120)), 13: (0, 0.5, math.radians(240))})
    child = wedge("Child", (0.03, 0.0, 0.01), (1, -1.5, 1))
    child.parent = box
    mirror = wedge("Mirror", (-0.1, -0.1, 0.02), (-1, 1, 1))
    key(mirror, "rotation_euler", {1: (0.3, 0, 0), 13: (0.3, 1.0, 2.0)})
    grow = wedge("Grow", (0.2, -0.1, 0.02), (1, 1, 1))
    key(grow, "scale", {1: (1, 1, 1), 13: (1, 1, 2)})
    rod(scene)
    bulge()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.1)
    cloth = bpy.context.object
    cloth.name = "Cloth"
    cloth.data.materials.append(textured(folder))
    cloth.shape_key_add(name="Basis")
    up = cloth.shape_key_add(name="Up")
    for vertex, moved in zip(cloth.data.vertices, up.data):
        moved.co.z = vertex.co.z + 0.01 * math.sin(60 * vertex.co.x)
    key(up, "value", {1: 0.0, 7: 1.0, 13: 0.2})
    bpy.ops.mesh.primitive_cube_add(size=0.02, location=(0, 0.1, 0.05))
    cage = bpy.context.object
    cage.name = "Round"
    cage.data.materials.append(material("Red", (0.8, 0.1, 0.1), 0.0, 0.2)[0])
    modifier = cage.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = 2
    # The points of the second level, not those of the limit surface.
    modifier.use_limit_surface = False
    bpy.ops.mesh.primitive_cube_add(size=0.02, location=(-0.1, 0.1, 0.05))
    two = bpy.context.object
    two.name = "Two"
    for name in ("First", "Second"):
        two.data.materials.append(material(name, (0.2, 0.6, 0.2))[0])
    two.data.polygons[0].material_index = 1
    eye = bpy.data.objects.new("Eye", bpy.data.cameras.new("Lens"))
    scene.collection.objects.link(eye)
    scene.camera = eye
    for frame, place in {1: (0.4, -0.4, 0.3), 13: (-0.4, -0.4, 0.2)}.items():
        key(eye, "location", {frame: place})
        key(eye, "rotation_euler", {frame: (-Vector(place)).to_track_quat("-Z", "Y").to_euler()})
    return scene, eye, cloth


def upright(point):
    return [point[0], point[2], -point[1]]


def volume_of(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def evaluated(scene, eye):
    """Vertices of the objects, and place and direction of the camera, by frame; y up."""
    found = {}
    for frame in COMPARED:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for name in NAMES:
            shown = bpy.data.objects[name].evaluated_get(graph)
            points = [upright(shown.matrix_world @ vertex.co) for vertex in shown.to_mesh().vertices]
            found[name, frame] = np.array(points)
        pose = eye.matrix_world
        forward = pose.to_3x3() @ Vector((0, 0, -1))
        found["camera", frame] = np.array([upright(pose.translation), upright(forward)])
    lens = eye.data.angle_x if scene.render.resolution_x >= scene.render.resolution_y else eye.data.angle_y
    aspect = scene.render.resolution_y / scene.render.resolution_x
    found["fov"] = 2 * math.atan(math.tan(0.5 * lens) * aspect)
    # Files keep the transforms of the frame in which they are written.
    scene.frame_set(COMPARED[2])
    return found


def write(folder, cloth):
    span = {"start": FIRST, "end": LAST, "as_background_job": False}
    bpy.ops.wm.alembic_export(filepath=str(folder / "abc.abc"), face_sets=True, subdiv_schema=True, **span)
    usd = {"export_animation": True, "export_subdivision": "BEST_MATCH"}
    # The points are sampled instead.
    usd |= {"export_shapekeys": False, "export_armatures": False}
    bpy.ops.wm.usd_export(filepath=str(folder / "usdc.usdc"), **usd)
    bpy.ops.wm.usd_export(filepath=str(folder / "usda.usda"), **usd)
    bpy.ops.wm.usd_export(filepath=str(folder / "usdz.usdz"), **usd)
    bpy.ops.wm.usd_export(
        filepath=str(folder / "cm.usdc"),
        convert_scene_units="CENTIMETERS",
        convert_orientation=True,
        export_global_forward_selection="NEGATIVE_Z",
        export_global_up_selection="Y",
        **usd,
    )
    bpy.ops.export_scene.gltf(filepath=str(folder / "glb.glb"), export_cameras=True, export_animations=True)
    bpy.ops.object.select_all(action="DESELECT")
    cloth.select_set(True)
    bpy.context.view_layer.objects.active = cloth
    axes = {"forward_axis": "NEGATIVE_Z", "up_axis": "Y", "export_selected_objects": True}
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bpy.ops.wm.ply_export(filepath=str(folder / f"Cloth_{frame:04}.ply"), **axes)


def numbers(quantity):
    *values, unit = quantity.split()
    factor = {"mm": 1e-3, "ms": 1e-3, "deg": math.radians(1)}[unit]
    return np.array([float(value) * factor for value in values])


def at(keys, time):
    return min(keys, key=lambda own: abs(numbers(own["at"])[0] - time))


def mesh_of(file):
    """Vertices and triangles of a binary PLY file of sessile."""
    head, _, body = file.read_bytes().partition(b"end_header\n")
    lines = [line.split() for line in head.decode().splitlines()]
    count = next(int(line[2]) for line in lines if line[:2] == ["element", "vertex"])
    kinds = {"double": "<f8", "float": "<f4"}
    fields, inside = [], False
    for line in lines:
        inside = line[1] == "vertex" if line[0] == "element" else inside
        if inside and line[0] == "property":
            fields.append((line[2], kinds[line[1]]))
    rows = np.frombuffer(body, dtype=fields, count=count)
    faces = next(int(line[2]) for line in lines if line[:2] == ["element", "face"])
    lists = [line for line in lines if line[:2] == ["property", "list"]]
    sizes = {"uchar": "u1", "int": "<i4", "uint": "<u4", "float": "<f4", "double": "<f8"}
    lengths = {"vertex_indices": 3, "texcoord": 6}
    record = []
    for _, _, size, kind, name in lists:
        record += [(f"{name} size", sizes[size]), (name, sizes[kind], lengths[name])]
    corners = np.frombuffer(body[rows.nbytes :], dtype=record, count=faces)["vertex_indices"]
    return np.stack([rows[axis].astype(float) for axis in "xyz"], axis=1), corners


def placed(solid, folder, time):
    if "deform" in solid:
        return mesh_of(folder / at(solid["deform"], time)["file"])
    points, triangles = mesh_of(folder / solid["file"])
    if "motion" not in solid:
        return points, triangles
    own = at(solid["motion"], time)
    turn = np.array(Euler(numbers(own["rotate"]), "XYZ").to_matrix())
    return points @ turn.T + numbers(solid["move"]) + numbers(own["move"]), triangles


def assert_same(name, frame, found, expected, bound):
    """The vertices may have another order, and those of seams may be doubled."""
    far = max(np.min(np.linalg.norm(expected - point, axis=1)) for point in found)
    missing = max(np.min(np.linalg.norm(found - point, axis=1)) for point in expected)
    assert max(far, missing) < bound, f"{name}, frame {frame}: off by {1e3 * max(far, missing):.5f} mm"


def compare(kind, folder, expected, names):
    scene = tomllib.loads((folder / f"{kind}.toml").read_text())
    solids = {solid["name"]: solid for solid in scene["solids"]}
    bound = QUANTIZED if kind == "quantized" else 2e-6
    for name in names:
        assert name in solids, f"{kind}: {name} is missing from {list(solids)}"
        for frame in COMPARED:
            points, triangles = placed(solids[name], folder, (frame - FIRST) / FPS)
            assert_same(f"{kind}: {name}", frame, points, expected[name, frame], bound)
            if name in CLOSED:
                volume = volume_of(points - points.mean(0), triangles)
                assert volume > 1e-9, f"{kind}: {name}, frame {frame}: its volume is {volume} m^3, so it is inside out"
    if kind == "ply":
        assert scene["time"]["start_frame"] == FIRST
        return solids
    for frame in COMPARED:
        own = at(scene["camera"]["motion"], (frame - FIRST) / FPS)
        eye, look_at = numbers(own["position"]), numbers(own["look_at"])
        forward = (look_at - eye) / np.linalg.norm(look_at - eye)
        place, direction = expected["camera", frame]
        assert np.linalg.norm(eye - place) < bound, f"{kind}: camera at {eye}, not {place}, in frame {frame}"
        assert np.linalg.norm(forward - direction) < 10 * bound, f"{kind}: camera looks along {forward}, not {direction}"
    angle = numbers(scene["camera"]["fov"])[0]
    assert abs(angle - expected["fov"]) < 1e-5, f"{kind}: the camera's angle is {angle}, not {expected['fov']} rad"
    return solids


def main():
    sessile, folder, gltfpack = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    scene, eye, cloth = shot(folder)
    expected = evaluated(scene, eye)
    write(folder, cloth)
    # Names stay; 16 bits, and the animation at the frame rate.
    quantize = [gltfpack, "-i", folder / "glb.glb", "-o", folder / "quantized.glb", "-kn", "-vp", "16", "-af", str(FPS)]
    subprocess.run([*quantize, "-at", "24", "-ar", "16", "-as", "24"], check=True)
    kinds = {"cm": "usdc", "quantized": "glb"}
    for kind in ("abc", "usdc", "usda", "usdz", "cm", "glb", "quantized", "ply"):
        files = [folder / f"{kind}.{kinds.get(kind, kind)}"]
        if kind == "ply":
            files = sorted(folder.glob("Cloth_*.ply"))
        subprocess.run([sessile, "import", *files, "--fps", str(FPS), "--as", folder / f"{kind}.toml"], check=True)
        # glTF has no subdivision surfaces: Blender writes the cage.
        names = NAMES
        if kind in ("glb", "quantized", "ply"):
            names = ["Cloth"] if kind == "ply" else [name for name in NAMES if name != "Round"]
        solids = compare(kind, folder, expected, names)
        subprocess.run([sessile, "check", folder / f"{kind}.toml"], check=True)
        if kind in ("usdc", "usda", "usdz", "cm", "glb"):
            for image in ("texture", "normal_map"):
                assert pathlib.Path(folder / solids["Cloth"][image]).is_file(), f"{kind}: no {image}"
            assert (solids["Box"]["material"], solids["Box"]["metallic"]) == ("Steel", 1), f"{kind}: {solids['Box']}"
            assert abs(solids["Box"]["roughness_look"] - 0.3) < 1e-3, f"{kind}: {solids['Box']}"
        if kind == "abc":
            assert solids["Box"]["material"] == "Steel", solids["Box"]
    print("import: motion, deformation, subdivision, camera and images of abc, usd, usdz, glb and ply are Blender's")


main()
