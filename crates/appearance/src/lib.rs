//! What a run looks like: camera, framing, materials, textures, lights.
