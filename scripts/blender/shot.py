"""What the checks of the extension share: a shot at 1001-1048 or shorter, bakes, and what they leave."""

import os
import sys
import threading
import time
import tomllib

import bpy
import numpy as np

MODULE = "bl_ext.user_default.sessile"


def enable():
    """Switch on the installed extension; return its package."""
    if MODULE not in sys.modules or not hasattr(bpy.types.Scene, "sessile"):
        bpy.ops.preferences.addon_enable(module=MODULE)
    return sys.modules[MODULE]


def part(name):
    """A module of the extension."""
    return sys.modules[f"{MODULE}.{name}"]


def fresh(blend, first, last, *, fps=25, slow_motion=1.0, model="droplet", resolution=0.0004):
    """An empty scene, saved to a file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    enable()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = first, last, fps
    settings = scene.sessile
    settings.model, settings.resolution, settings.slow_motion = model, resolution, slow_motion
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(blend))
    return scene


def solid(obj, name, material="wax"):
    obj.name = name
    obj.sessile.role, obj.sessile.material = "SOLID", material
    return obj


def grid(name, size=0.03, at=(0, 0, 0), cells=12, material="wax"):
    """A square sheet with texture coordinates."""
    bpy.ops.mesh.primitive_grid_add(size=size, x_subdivisions=cells, y_subdivisions=cells, location=at)
    return solid(bpy.context.object, name, material)


def drop(at, radius=0.001, name="Drop"):
    """A sphere of liquid."""
    empty = bpy.data.objects.new(name, None)
    empty.location = at
    empty.sessile.role, empty.sessile.radius = "DROP", radius
    bpy.context.scene.collection.objects.link(empty)
    return empty


def bake():
    """Bake to the end; return the run."""
    import sessile

    scene = bpy.context.scene
    assert bpy.ops.sessile.bake() == {"FINISHED"}, scene.sessile.status
    assert scene.sessile.status == "Done", scene.sessile.status
    return sessile.Run(os.path.join(part("setup").folder_of(scene), "run"))


def interfere(scene, frame, act, during):
    """Call `during`, and `act` with the job as soon as it has a frame."""
    name, operators, ended = scene.name, part("operators"), threading.Event()

    def watch():
        while not ended.is_set():
            job = operators._running.get(name)
            if job is not None and job.frame >= frame:
                act(job)
                return
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return during()
    finally:
        ended.set()
        watcher.join()


def refused(*words):
    """Bake in vain: the message has these words."""
    try:
        bpy.ops.sessile.bake()
    except RuntimeError as error:
        assert all(word in str(error) for word in words), error
        return str(error).strip().splitlines()[0]
    raise AssertionError(f"this was baked: {words}")


def solids_of(run):
    """The solids of a run's scene, as its file has them."""
    return tomllib.loads(run.scene.to_toml())["solids"]


def liquid_of(scene):
    """The object that shows the drops."""
    return next(o for o in scene.objects if o.get("sessile_cache") == scene.name)


def shown(scene, frame):
    """Vertices of the drops as Blender shows them in a frame, n x 3, and their velocities."""
    scene.frame_set(frame)
    evaluated = liquid_of(scene).evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    world = np.array(evaluated.matrix_world)
    velocities = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["velocity"].data.foreach_get("vector", velocities)
    return points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3], velocities.reshape(-1, 3)


def surface(obj, frame):
    """Vertices of an object in a frame, n x 3, in the world."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world)
    return points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
