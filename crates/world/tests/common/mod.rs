//! Scenes in code, for tests.

use glam::DVec3;
use sessile_scene::types::*;
use sessile_wetting::Liquid;

/// A scene with nothing in it but a material `wax`.
pub fn empty() -> Scene {
    Scene {
        title: String::new(),
        model: ModelKind::Volume,
        fidelity: Fidelity::Physical,
        seed: 1,
        time: Time { duration: 1.0, frame: 0.1, start_frame: 0, settle: false },
        liquid: Liquid::water(),
        liquid_preset: &sessile_wetting::liquid_presets()[0],
        world: WorldSettings {
            gravity: Keyed { keys: vec![(0.0, DVec3::new(0.0, -9.8, 0.0))] },
            tilt: Keyed { keys: vec![(0.0, 0.0)] },
            wind: DVec3::ZERO,
            humidity: None,
            temperature: 293.15,
            planar: false,
        },
        domain: None,
        resolution: Resolution { cell: None, edge: 4e-4 },
        materials: vec![wax()],
        solids: vec![],
        drops: vec![],
        emitters: vec![],
        pane: PaneParameters::default(),
        droplet: DropletParameters::default(),
        surface: SurfaceParameters::default(),
        volume: VolumeParameters::default(),
        camera: Camera::default(),
        lights: Lights {
            environment: EnvironmentMap::Preset(EnvironmentPreset::Studio),
            strength: 1.0,
            sun: None,
            area: vec![],
        },
        render: Render::default(),
        output: Output::default(),
    }
}

pub fn wax() -> Material {
    Material {
        name: "wax".into(),
        advancing: Varying::Uniform(105f64.to_radians()),
        receding: Varying::Uniform(95f64.to_radians()),
        wet_advancing: None,
        receding_limit: None,
        roughness: [0.0; 2].map(Varying::Uniform),
        adhesion: Varying::Uniform(10.0),
        friction: None,
        affinity: Varying::Uniform(0.5),
    }
}

pub fn solid(name: &str, shape: SolidShape) -> Solid {
    Solid {
        name: name.into(),
        material: "wax".into(),
        shape,
        rotate: DVec3::ZERO,
        shift: DVec3::ZERO,
        motion: vec![],
        interpolation: Interpolation::Linear,
        temperature: None,
        look: Look::Matte,
        texture: None,
        normal_map: None,
        texture_tiling: Tiling([1.0; 2]),
        texture_rotation: 0.0,
        color: None,
        roughness_look: None,
        metallic: None,
    }
}

/// A plane through the origin.
pub fn plane(name: &str, normal: DVec3, size: [f64; 2]) -> Solid {
    solid(name, SolidShape::Plane { point: DVec3::ZERO, normal: normal.normalize(), size })
}

/// A scene with these solids.
pub fn with_solids(solids: Vec<Solid>) -> Scene {
    Scene { solids, ..empty() }
}

pub fn drop(shape: DropShape) -> Drop {
    Drop { shape, velocity: DVec3::ZERO }
}

/// An emitter that always runs.
pub fn emitter(kind: EmitterKind) -> Emitter {
    Emitter { kind, start: 0.0, stop: f64::INFINITY }
}
