"""Particle systems as sources: every particle is a drop that flies on from where it is born."""

from .meshes import SetupError

MOST = 5000
"""Most particles of a scene."""


def drops(context, objects, unit, slow_motion):
    """Births in the frame range by object: frames since the first, place, velocity (m/s), size factor.

    Particles that are born before the range count where they fly at its start.
    """
    scene = context.scene
    begin = min([scene.frame_start, *(int(p.settings.frame_start) for o in objects for p in o.particle_systems)])
    rate = scene.render.fps / scene.render.fps_base
    found = {obj.name: [] for obj in objects}
    seen = set()
    for frame in range(begin, scene.frame_end + 1):
        scene.frame_set(frame)
        for obj in objects:
            evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
            for number, system in enumerate(evaluated.particle_systems):
                for index, particle in enumerate(system.particles):
                    key = (obj.name, number, index)
                    if particle.alive_state != "ALIVE":
                        continue
                    if frame < scene.frame_start or key in seen:
                        continue
                    seen.add(key)
                    if len(seen) > MOST:
                        raise SetupError(f"{obj.name}: there are more than {MOST} particles in the frame range")
                    # It has flown since its birth.
                    born = max(particle.birth_time, scene.frame_start)
                    place = particle.location - particle.velocity * max(frame - born, 0.0) / rate
                    factor = particle.size / (system.settings.particle_size or 1.0)
                    velocity = particle.velocity * unit * slow_motion
                    found[obj.name].append((born - scene.frame_start, place * unit, velocity, factor))
    scene.frame_set(scene.frame_start)
    return found
