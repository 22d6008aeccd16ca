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

    @property
    def _scene(self):
        """The scene; by name, because undo replaces the data. None if it has been removed."""
        return bpy.data.scenes.get(self._name)

    def begin(self, context):
        """Write the setup and start the job."""
        scene = context.scene
        made = setup.write(context)
        for notice in made.notices:
            self.report({"WARNING"}, notice)
        self._warnings = made.notices
        scene.sessile.warnings = "\n".join(made.notices)
        scene.sessile.estimate = made.estimate()
        scene[result.SOLIDS] = made.solids
        self._name, self._folder = scene.name, os.path.dirname(made.path)
        run = os.path.join(self._folder, "run")
        _forget_other(made, run)
        self._job = job.Job(made.path, run, os.path.join(self._folder, "run.usdc"))
        self._shown = 0
        _running[scene.name] = self._job
        scene.sessile.status, scene.sessile.progress = "Starting", 0.0

    def _notices(self, scene):
        """What the simulation reported, such as a solid that intersects itself."""
        # The expected cost is in the panel.
        lines = [line for line in self._job.notices if not line.startswith("estimate:")]
        return [setup.in_blender(line, scene) for line in lines]

    def poll_job(self):
        """Show what is new."""
        scene, running = self._scene, self._job
        if scene is None:
            running.cancel()
            return
        scene.sessile.warnings = "\n".join(self._warnings + self._notices(scene))
        if running.of:
            scene.sessile.progress = running.frame / running.of
            scene.sessile.status = f"Frame {running.frame} of {running.of}"
        # Blender takes a file with one frame for one that never changes.
        if running.frames_ready != self._shown and running.frames_ready > 1:
            self._shown = running.frames_ready
            try:
                result.show(scene, self._folder)
            except Exception as error:  # noqa: BLE001 - the bake continues, and its end is shown again
                running.notices.append(f"The drops could not be shown: {error}")

    def finish(self):
        """Show the result; return the operator's result."""
        self._job.wait()
        _running.pop(self._name, None)
        self.poll_job()
        scene = self._scene
        if scene is None:
            return {"CANCELLED"}
        settings = scene.sessile
        if self._job.error:
            settings.status = "Failed"
            self.report({"ERROR"}, self._job.error)
            return {"CANCELLED"}
        stopped = self._job.outcome == "stopped"
        settings.status = f"Stopped at frame {self._job.frame}; Bake resumes" if stopped else "Done"
        for notice in self._notices(scene):
            self.report({"WARNING"}, notice)
        self.report({"INFO"}, settings.status)
        return {"FINISHED"}

    def execute(self, context):
        try:
            self.begin(context)
        except Exception as error:  # noqa: BLE001 - shown to the user
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
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
            for area in context.screen.areas if context.screen else ():
                area.tag_redraw()
            if self._job.running:
                self.poll_job()
            else:
                context.window_manager.event_timer_remove(self._timer)
                outcome = self.finish()
                # The drops are a step of their own for undo.
                bpy.ops.ed.undo_push(message="Bake Drops")
                return outcome
        return {"PASS_THROUGH"}


class SESSILE_OT_estimate(bpy.types.Operator):
    """Say how long a bake would take, and how much memory and disk space; warn of what is wrong with the solids"""

    bl_idname = "sessile.estimate"
    bl_label = "Estimate"

    @classmethod
    def poll(cls, context):
        return current(context.scene) is None

    def execute(self, context):
        settings = context.scene.sessile
        try:
            made = setup.write(context)
            warnings = made.notices + made.check()
            settings.estimate, settings.warnings = made.estimate(), "\n".join(warnings)
        except Exception as error:  # noqa: BLE001 - shown to the user
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for warning in warnings:
            self.report({"WARNING"}, warning)
        self.report({"INFO"}, settings.estimate)
        return {"FINISHED"}


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
        context.scene.sessile.status = context.scene.sessile.warnings = ""
        return {"FINISHED"}


def _forget_other(made, run):
    """Remove the run of another setup, which cannot be resumed."""
    import sessile

    stored = os.path.join(run, "scene.toml")
    if not os.path.exists(stored):
        return
    try:
        same = sessile.Scene(stored).to_toml() == made.text
    except ValueError:
        same = False
    if not same:
        shutil.rmtree(run)


_CLASSES = (SESSILE_OT_bake, SESSILE_OT_estimate, SESSILE_OT_cancel, SESSILE_OT_clear)


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
