"""Bake, cancel, and clear."""

import os
import shutil

import bpy

from . import job, result, setup

_running = {}


def current(scene):
    """The job of a scene, if one runs."""
    return _running.get(scene.name)


class SESSILE_OT_bake(bpy.types.Operator):
    """Simulate the drops in the background; an unfinished bake of the same setup resumes"""

    bl_idname = "sessile.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return current(context.scene) is None

    def begin(self, context):
        """Write the setup and start the job."""
        scene = context.scene
        path, notices = setup.write(context)
        for notice in notices:
            self.report({"WARNING"}, notice)
        self._scene, self._folder = scene, os.path.dirname(path)
        run = os.path.join(self._folder, "run")
        _forget_other(path, run)
        self._job = job.Job(path, run, os.path.join(self._folder, "run.usdc"))
        self._shown = 0
        _running[scene.name] = self._job
        scene.sessile.status, scene.sessile.progress = "Starting", 0.0

    def poll_job(self):
        """Show what is new."""
        settings, running = self._scene.sessile, self._job
        if running.of:
            settings.progress = running.frame / running.of
            settings.status = f"Frame {running.frame} of {running.of}"
        # Blender takes a file with one frame for one that never changes.
        if running.frames_ready != self._shown and running.frames_ready > 1:
            self._shown = running.frames_ready
            result.show(self._scene, self._folder)

    def finish(self):
        """Show the result; return the operator's result."""
        self._job.wait()
        self.poll_job()
        _running.pop(self._scene.name, None)
        settings = self._scene.sessile
        if self._job.error:
            settings.status = "Failed"
            self.report({"ERROR"}, self._job.error)
            return {"CANCELLED"}
        stopped = self._job.outcome == "stopped"
        settings.status = f"Stopped at frame {self._job.frame}; Bake resumes" if stopped else "Done"
        self.report({"INFO"}, settings.status)
        return {"FINISHED"}

    def execute(self, context):
        try:
            self.begin(context)
        except Exception as error:  # noqa: BLE001 - shown to the user
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._job.wait()
        return self.finish()

    def invoke(self, context, event):
        if bpy.app.background:
            return self.execute(context)
        try:
            self.begin(context)
        except Exception as error:  # noqa: BLE001 - shown to the user
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(0.25, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        kind = event.type
        if kind == "TIMER":
            self.poll_job()
            for area in context.screen.areas if context.screen else ():
                area.tag_redraw()
            if not self._job.running:
                context.window_manager.event_timer_remove(self._timer)
                return self.finish()
        return {"PASS_THROUGH"}


class SESSILE_OT_cancel(bpy.types.Operator):
    """Stop the bake; what is done is kept, and Bake resumes it"""

    bl_idname = "sessile.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        return current(context.scene) is not None

    def execute(self, context):
        current(context.scene).cancel()
        return {"FINISHED"}


class SESSILE_OT_clear(bpy.types.Operator):
    """Delete the cache of this scene"""

    bl_idname = "sessile.clear"
    bl_label = "Delete Cache"

    @classmethod
    def poll(cls, context):
        return current(context.scene) is None

    def execute(self, context):
        folder = setup.folder_of(context.scene)
        for name in ("run", "meshes", "run.usdc.files"):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        for name in ("run.usdc", "scene.toml"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        context.scene.sessile.status = ""
        return {"FINISHED"}


def _forget_other(scene, run):
    """Remove the run of another setup, which cannot be resumed."""
    import sessile

    stored = os.path.join(run, "scene.toml")
    if not os.path.exists(stored):
        return
    try:
        same = sessile.Scene(stored).to_toml() == sessile.Scene(scene).to_toml()
    except ValueError:
        same = False
    if not same:
        shutil.rmtree(run)


_CLASSES = (SESSILE_OT_bake, SESSILE_OT_cancel, SESSILE_OT_clear)


def register():
    """Called by Blender."""
    for one in _CLASSES:
        bpy.utils.register_class(one)


def unregister():
    """Called by Blender."""
    for running in _running.values():
        running.cancel()
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
