//! Drops that cross one another become one, each as it is away from the seam; and so do two arms of one drop.
//!
//! Drops are carried on into their solids, to different depths, united along the curves in which they meet ([`crate::seam`]), and cut off at the contact line
//! again: what is left of the line is the outline of the new wetted face, which is made anew. Points closer together than a twentieth of an edge become one.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;

use crate::body::carried_on;
use crate::ears::take_ears;
use crate::ground::{Ground, foot_point, footing};
use crate::mesh::{AIR, Kind, Mesh, NONE};
use crate::seam::{NoSeam, Skin};

/// How deep drops are carried on into their solids, in edges; each a little deeper than the one before.
const DEPTHS: [f64; 2] = [1.0, 1.37];
/// Edges shorter than this, in edges, are none.
const WELD: f64 = 0.05;
/// Turns in which the long edges of a wetted face are halved, at most: more than a face of a thousand edges across needs.
const MOST_SPREADINGS: usize = 24;
/// Turns in which the groove along a seam is filled, at most.
const MOST_FILLINGS: usize = 12;
/// Cosine between the two triangles of an edge in a groove.
const SHARP: f64 = 0.3;

/// The union of two drops whose surfaces cross, and the length of the curves in which they do, in m. `edge` is the length of its edges, in m; `volume`, in m³, is what it should hold:
/// the groove along the seam is filled up to that.
pub fn stitch(a: &Mesh, b: &Mesh, edge: f64, volume: f64, world: &Ground) -> Result<(Mesh, f64), NoSeam> {
    let [one, other] = [(a, DEPTHS[0]), (b, DEPTHS[1])].map(|(mesh, depth)| carried_on(mesh, world, depth * edge));
    let (skin, length) = one.beside(&other).united(edge)?;
    Ok((close(skin, edge, volume, world)?, length))
}

/// A drop whose surface crosses itself, with its arms joined where they do, and the length of the curves, in m.
pub fn stitch_to_itself(mesh: &Mesh, edge: f64, volume: f64, world: &Ground) -> Result<(Mesh, f64), NoSeam> {
    let mut skin = Skin { positions: mesh.positions.clone(), velocities: mesh.velocities.clone(), ..Skin::default() };
    for (&corners, &tag) in mesh.triangles.iter().zip(&mesh.solids) {
        skin.push(corners, tag);
    }
    let (skin, length) = skin.united(edge)?;
    Ok((close(skin, edge, volume, world)?, length))
}

/// A mesh of a closed surface.
fn mesh_of(skin: Skin) -> Result<Mesh, NoSeam> {
    let plain = TriMesh { positions: skin.positions, triangles: skin.triangles, ..TriMesh::default() };
    let mut mesh = Mesh::from_triangles(&plain).ok_or(NoSeam::Tangled)?;
    if mesh.positions.len() != skin.velocities.len() {
        return Err(NoSeam::Tangled);
    }
    mesh.velocities = skin.velocities;
    mesh.solids = skin.tags;
    Ok(mesh)
}

/// Takes away what is below the contact line, and closes the surface on the solids.
fn close(skin: Skin, edge: f64, volume: f64, world: &Ground) -> Result<Mesh, NoSeam> {
    // Points of the seam that lie side by side become one while there is no line yet to be kept in one piece.
    let mut whole = mesh_of(skin)?;
    weld(&mut whole, WELD * edge);
    whole.compact();
    let mut below: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    let (mut triangles, mut tags) = (Vec::new(), Vec::new());
    for (&corners, &tag) in whole.triangles.iter().zip(&whole.solids) {
        if tag == AIR {
            triangles.push(corners);
            tags.push(tag);
        } else {
            below.extend((0..3).map(|k| ([corners[k], corners[(k + 1) % 3]], tag)));
        }
    }
    let (mut positions, mut velocities) = (whole.positions, whole.velocities);
    let outline = Connectivity::new(&triangles).map_err(|_| NoSeam::Footprint)?;
    // The wetted face goes the other way along the line.
    let mut onward: BTreeMap<u32, u32> = BTreeMap::new();
    for half_edge in outline.boundary() {
        let [from, to] = half_edge.ends(&triangles);
        if onward.insert(to, from).is_some() {
            return Err(NoSeam::Footprint);
        }
    }
    while let Some((&first, _)) = onward.first_key_value() {
        let mut patch = Vec::new();
        let mut at = first;
        while let Some(to) = onward.remove(&at) {
            patch.push(at);
            at = to;
        }
        let tag_of = |k: usize| below.get(&[patch[k], patch[(k + 1) % patch.len()]]).copied();
        let tag = tag_of(0).ok_or(NoSeam::Footprint)?;
        if at != first || patch.len() < 3 || (0..patch.len()).any(|k| tag_of(k) != Some(tag)) {
            return Err(NoSeam::Footprint);
        }
        for &v in &patch {
            positions[v as usize] = foot_point(world, tag, positions[v as usize]);
        }
        let places: Vec<DVec3> = patch.iter().map(|&v| positions[v as usize]).collect();
        let out: DVec3 = places.iter().map(|&p| footing(world, tag, p).normal).sum();
        // Ears are found only where the outline goes round what is wet: round a dry spot it goes the other way.
        let twice: DVec3 =
            (0..places.len()).map(|k| (places[k] - places[0]).cross(places[(k + 1) % places.len()] - places[0])).sum();
        if twice.dot(out) >= 0.0 {
            return Err(NoSeam::Footprint);
        }
        let ears = take_ears(&places, -out).ok_or(NoSeam::Footprint)?;
        let mut base: Vec<[u32; 3]> = ears.into_iter().map(|ear| ear.map(|k| patch[k])).collect();
        for [v, w] in chords(&base, &triangles) {
            let middle = 0.5 * (positions[v as usize] + positions[w as usize]);
            positions.push(foot_point(world, tag, middle));
            velocities.push(0.5 * (velocities[v as usize] + velocities[w as usize]));
            put_between(&mut base, [v, w], positions.len() as u32 - 1);
        }
        tags.resize(tags.len() + base.len(), tag);
        triangles.append(&mut base);
    }
    let mut names = vec![u32::MAX; positions.len()];
    let mut closed = Skin::default();
    for (corners, tag) in triangles.into_iter().zip(tags) {
        let corners = corners.map(|v| {
            let name = &mut names[v as usize];
            if *name == u32::MAX {
                *name = closed.positions.len() as u32;
                closed.positions.push(positions[v as usize]);
                closed.velocities.push(velocities[v as usize]);
            }
            *name
        });
        closed.push(corners, tag);
    }
    let mut mesh = mesh_of(closed)?;
    spread_base(&mut mesh, edge, world)?;
    fill_groove(&mut mesh, volume);
    mesh.compact();
    Ok(mesh)
}

/// Edges within a wetted face that join two vertices which an edge against air joins as well: with both, the surface would not be manifold there.
fn chords(base: &[[u32; 3]], air: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = |corners: &[u32; 3]| {
        let [a, b, c] = *corners;
        [[a, b], [b, c], [c, a]]
    };
    // Each edge within the face goes both ways.
    let ways: BTreeSet<[u32; 2]> = base.iter().flat_map(sides).collect();
    let inner = |&[v, w]: &[u32; 2]| v < w && ways.contains(&[w, v]);
    let beside: BTreeSet<[u32; 2]> =
        air.iter().flat_map(sides).map(|[v, w]| [v.min(w), v.max(w)]).filter(|edge| ways.contains(edge)).collect();
    ways.iter().copied().filter(inner).filter(|edge| beside.contains(edge)).collect()
}

/// Puts a vertex on an edge.
fn put_between(base: &mut Vec<[u32; 3]>, [v, w]: [u32; 2], middle: u32) {
    for t in 0..base.len() {
        let corners = base[t];
        let side = (0..3).find(|&k| [[v, w], [w, v]].contains(&[corners[k], corners[(k + 1) % 3]]));
        if let Some(k) = side {
            base[t][(k + 1) % 3] = middle;
            base.push([middle, corners[(k + 1) % 3], corners[(k + 2) % 3]]);
        }
    }
}

/// Puts vertices on the long edges within a wetted face, which has none of its own.
fn spread_base(mesh: &mut Mesh, edge: f64, world: &Ground) -> Result<(), NoSeam> {
    let inner = |mesh: &Mesh, h: u32| {
        h < mesh.twin(h) && mesh.solid_of(h) != AIR && !mesh.is_line(h) && mesh.length(h) > 1.5 * edge
    };
    for _ in 0..MOST_SPREADINGS {
        let mut long: Vec<u32> = (0..mesh.twins.len() as u32).filter(|&h| inner(mesh, h)).collect();
        if long.is_empty() {
            return Ok(());
        }
        long.sort_by(|&g, &h| mesh.length(h).total_cmp(&mesh.length(g)).then(g.cmp(&h)));
        for h in long {
            // Those before it may have shortened it.
            if inner(mesh, h) {
                let middle = 0.5 * (mesh.positions[mesh.from(h) as usize] + mesh.positions[mesh.to(h) as usize]);
                let place = foot_point(world, mesh.solid_of(h), middle);
                // Round a sharp corner or a thin ear of a solid, what is nearest to the middle is elsewhere, and the halves would be no shorter.
                if place.distance(middle) > 0.25 * mesh.length(h) {
                    return Err(NoSeam::Footprint);
                }
                mesh.split(h, place);
            }
        }
    }
    Err(NoSeam::Footprint)
}

/// Fills the groove along the seam until the surface encloses `volume`, in m³: vertices in it move out towards the middle of their neighbors, those next to them from turn to turn.
///
/// The union lacks what the two drops had in common. Blown up all round to make up for it, the sides of a groove that is narrower than any edge would cross; and it is there that the
/// liquid which is pushed aside comes out.
fn fill_groove(mesh: &mut Mesh, volume: f64) {
    let free = |mesh: &Mesh, v: u32| mesh.starts[v as usize] != NONE && mesh.kind(v) == Kind::Free;
    let sharp = |mesh: &Mesh, v: u32| {
        mesh.fan(v).any(|h| {
            let [n, m] = [h, mesh.twin(h)].map(|h| mesh.area_vector((h / 3) as usize));
            n.dot(m) < SHARP * n.length() * m.length()
        })
    };
    let count = mesh.positions.len() as u32;
    let mut groove: Vec<bool> = (0..count).map(|v| free(mesh, v) && sharp(mesh, v)).collect();
    for turn in 0..MOST_FILLINGS {
        if turn > 1 && mesh.volume() >= volume {
            return;
        }
        if turn % 2 == 1 {
            let wider: Vec<bool> = (0..count)
                .map(|v| groove[v as usize] || (free(mesh, v) && mesh.fan(v).any(|h| groove[mesh.to(h) as usize])))
                .collect();
            groove = wider;
        }
        let mut moves: Vec<(u32, DVec3)> = Vec::new();
        for v in (0..count).filter(|&v| groove[v as usize]) {
            let (mut middle, mut normal, mut valence) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for h in mesh.fan(v) {
                middle += mesh.positions[mesh.to(h) as usize];
                normal += mesh.area_vector((h / 3) as usize);
                valence += 1.0;
            }
            let way = middle / valence - mesh.positions[v as usize];
            if way.dot(normal) > 0.0 {
                moves.push((v, way * 0.5));
            }
        }
        for (v, way) in moves {
            mesh.positions[v as usize] += way;
        }
    }
}

/// Makes the ends of edges shorter than `below` meters one, where that turns no triangle that has a shape.
fn weld(mesh: &mut Mesh, below: f64) {
    let rank = |mesh: &Mesh, v: u32| match mesh.kind(v) {
        Kind::Line => 2,
        Kind::Wet => 1,
        Kind::Free => 0,
    };
    let mut short: Vec<(f64, u32)> = (0..mesh.twins.len() as u32)
        .filter(|&h| h < mesh.twin(h))
        .map(|h| (mesh.length(h), h))
        .filter(|(length, _)| *length < below)
        .collect();
    short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, h) in short {
        if !mesh.is_live((h / 3) as usize) || mesh.length(h) >= below || !mesh.can_collapse(h) {
            continue;
        }
        let ends = [rank(mesh, mesh.from(h)), rank(mesh, mesh.to(h))];
        let ways = if ends[0] > ends[1] {
            [Some(mesh.twin(h)), None]
        } else if ends[0] < ends[1] {
            [Some(h), None]
        } else {
            [Some(h), Some(mesh.twin(h))]
        };
        for h in ways.into_iter().flatten() {
            let (a, place) = (mesh.from(h), mesh.positions[mesh.to(h) as usize]);
            let lost = [h / 3, mesh.twin(h) / 3];
            let turned = mesh.fan(a).filter(|e| !lost.contains(&(e / 3))).any(|e| {
                let before = mesh.area_vector((e / 3) as usize);
                let [q, r] = [mesh.to(e), mesh.apex(e)].map(|v| mesh.positions[v as usize]);
                let longest = mesh.length(e).max(q.distance(r)).max(mesh.length(crate::mesh::previous(e)));
                before.length() > 0.02 * longest * longest && before.dot((q - place).cross(r - place)) <= 0.0
            });
            if !turned {
                mesh.collapse(h, place);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sessile_world::World;

    use super::*;
    use crate::shapes::ball;
    use crate::testing::{Bare, floor, scene};
    use crate::validate::{check, check_crossings};

    const EDGE: f64 = 0.2e-3;

    fn nowhere() -> Ground {
        Ground::new(World::build(&scene("")).unwrap())
    }

    fn lens(radius: f64, apart: f64) -> f64 {
        let cap = radius - 0.5 * apart;
        2.0 * std::f64::consts::PI * cap * cap * (radius - cap / 3.0)
    }

    #[test]
    fn two_balls_become_their_union_and_stay_as_they_were_away_from_the_seam() {
        let world = nowhere();
        let (radius, apart) = (1e-3, 1.5e-3);
        let at = [DVec3::ZERO, DVec3::new(apart, 0.0, 0.0)];
        let [a, b] = at.map(|at| ball(at, radius, EDGE, |_| radius).unwrap());
        let (made, length) = stitch(&a, &b, EDGE, 0.0, &world).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let expected = a.volume() + b.volume() - lens(radius, apart);
        let off = made.volume() / expected - 1.0;
        assert!(off.abs() < 0.01, "volume off by {off}");
        let round = std::f64::consts::TAU * (radius * radius - 0.25 * apart * apart).sqrt();
        assert!((length / round - 1.0).abs() < 0.03, "the seam is {length} m long, {round} expected");
        // Every vertex of a that is farther than an edge from b is there, to a millionth of an edge.
        let far = a.positions.iter().filter(|p| p.distance(at[1]) > radius + EDGE);
        let moved = far
            .map(|p| made.positions.iter().map(|q| q.distance(*p)).fold(f64::INFINITY, f64::min))
            .fold(0.0, f64::max);
        assert!(moved < 2e-6 * EDGE, "a vertex away from the seam has moved by {moved} m");
    }

    /// Mirror images of one another, vertex on vertex: nothing is in general position.
    #[test]
    fn coincidences_are_borne() {
        let world = nowhere();
        let a = ball(DVec3::ZERO, 1e-3, EDGE, |_| 1e-3).unwrap();
        for shift in [DVec3::new(1e-3, 0.0, 0.0), DVec3::new(0.0, 1.4e-3, 0.0), DVec3::new(1e-3, 1e-3, 0.0)] {
            let mut b = a.clone();
            b.positions.iter_mut().for_each(|p| *p += shift);
            let (made, _) = stitch(&a, &b, EDGE, 0.0, &world).unwrap();
            check(&made).unwrap();
            check_crossings(&made).unwrap();
        }
    }

    /// The small ball comes out of the middle of one of the large one's triangles.
    #[test]
    fn a_curve_within_one_triangle_is_stitched_too() {
        let world = nowhere();
        let a = ball(DVec3::ZERO, 2e-3, 1e-3, |_| 2e-3).unwrap();
        let middle: DVec3 = a.corners(0).iter().sum::<DVec3>() / 3.0;
        let b = ball(middle, 0.2e-3, 0.05e-3, |_| 0.2e-3).unwrap();
        let (made, _) = stitch(&a, &b, 0.2e-3, 0.0, &world).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let more = made.volume() - a.volume();
        assert!((more / b.volume() - 0.5).abs() < 0.1, "half of the small one stands out, not {}", more / b.volume());
    }

    #[test]
    fn caps_on_a_floor_are_stitched_with_one_line_round_both() {
        let cap = |x: f64| {
            format!(
                "[[drops]]\nshape = \"cap\"\non = \"s\"\ncenter = \"{x} 0 0 mm\"\nvolume = \"4 uL\"\ncontact_angle = \"70 deg\"\n"
            )
        };
        let bare = Bare::new(&format!("{}{}{}", floor(90.0, 60.0), cap(-1.1), cap(1.1)), EDGE);
        let (made, _) = stitch(&bare.drops[0].mesh, &bare.drops[1].mesh, EDGE, 0.0, &bare.world).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let wetted = |mesh: &Mesh| -> f64 {
            (0..mesh.triangles.len()).filter(|&t| mesh.solids[t] >= 0).map(|t| mesh.area_vector(t).length()).sum()
        };
        let one = wetted(&bare.drops[0].mesh);
        let r = (one / std::f64::consts::PI).sqrt();
        let half = 1.1e-3 / r;
        let overlap = 2.0 * r * r * (half.acos() - half * (1.0 - half * half).sqrt());
        let off = wetted(&made) / (2.0 * one - overlap) - 1.0;
        assert!(off.abs() < 0.02, "wetted area off by {off}");
        let high = made.positions.iter().enumerate().filter(|(v, _)| made.kind(*v as u32) != Kind::Free);
        let high = high.map(|(_, p)| p.y.abs()).fold(0.0, f64::max);
        assert!(high < 1e-12, "the line is {high} m above the floor");
    }

    /// A ring that is not quite closed, its ends laid over one another.
    #[test]
    fn arms_of_one_drop_that_cross_become_a_torus() {
        let world = nowhere();
        let mut mesh = ball(DVec3::ZERO, 1e-3, 0.12e-3, |_| 1e-3).unwrap();
        for p in &mut mesh.positions {
            // Drawn out to a rod along x, then bent by a little more than a full turn.
            let turn = 3.35 * p.x / 1e-3;
            let reach = 2e-3 + 0.45 * p.y;
            *p = DVec3::new(reach * turn.sin(), 0.45 * p.z, reach * turn.cos());
        }
        let mesh = if mesh.volume() < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            Mesh::from_triangles(&mesh.to_tri_mesh()).unwrap()
        } else {
            mesh
        };
        assert!(check_crossings(&mesh).is_err(), "its ends lie over one another");
        let (made, _) = stitch_to_itself(&mesh, 0.3e-3, 0.0, &world).unwrap();
        check(&made).unwrap();
        check_crossings(&made).unwrap();
        let euler = made.positions.len() as i64 - made.triangles.len() as i64 / 2;
        assert_eq!((euler, made.parts().len()), (0, 1), "Euler number of a torus, one part");
    }
}
