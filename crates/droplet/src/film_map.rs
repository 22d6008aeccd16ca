//! Film volume by texel of a solid's map.
//!
//! Every sliding droplet tests at every step whether film lies ahead, and usually there is none. A
//! count of wet texels per tile answers that from a few thousand numbers instead of a million.

/// Side of a tile, in texels.
const TILE: usize = 16;

/// Film by texel.
#[derive(Clone, Debug, Default)]
pub struct FilmMap {
    /// In m³, row by row.
    volumes: Vec<f64>,
    width: usize,
    /// Number of texels with film, in all and in each tile.
    num_texels: u32,
    in_tile: Vec<u32>,
}

impl FilmMap {
    /// An empty map of this many texels.
    pub fn new(width: usize, height: usize) -> Self {
        let tiles = width.div_ceil(TILE) * height.div_ceil(TILE);
        Self { volumes: vec![0.0; width * height], width, num_texels: 0, in_tile: vec![0; tiles] }
    }

    /// Whether there is no film.
    pub fn is_empty(&self) -> bool {
        self.num_texels == 0
    }

    /// Film on a texel, in m³.
    pub fn at(&self, texel: usize) -> f64 {
        if self.in_tile[self.tile(texel)] > 0 { self.volumes[texel] } else { 0.0 }
    }

    /// Adds film to a texel, in m³.
    pub fn add(&mut self, texel: usize, volume: f64) {
        let tile = self.tile(texel);
        let was_bare = self.volumes[texel] == 0.0;
        self.volumes[texel] += volume;
        if was_bare && self.volumes[texel] != 0.0 {
            self.num_texels += 1;
            self.in_tile[tile] += 1;
        }
    }

    /// Removes the film of a texel and returns its volume, in m³.
    pub fn take(&mut self, texel: usize) -> f64 {
        let tile = self.tile(texel);
        if self.in_tile[tile] == 0 || self.volumes[texel] == 0.0 {
            return 0.0;
        }
        self.num_texels -= 1;
        self.in_tile[tile] -= 1;
        std::mem::take(&mut self.volumes[texel])
    }

    /// Removes at most `volume` (in m³) from each texel and returns the sum.
    pub fn thin(&mut self, volume: f64) -> f64 {
        let mut sum = 0.0;
        for texel in 0..self.volumes.len() {
            let present = self.at(texel);
            if present <= volume {
                sum += self.take(texel);
            } else {
                self.volumes[texel] -= volume;
                sum += volume;
            }
        }
        sum
    }

    /// Volume of all film, in m³, summed texel by texel; tiles without film are skipped.
    pub fn total(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let tiles = self.width.div_ceil(TILE);
        let rows = self.volumes.chunks_exact(self.width).enumerate();
        let parts = rows.flat_map(|(row, texels)| {
            texels.chunks(TILE).zip(&self.in_tile[row / TILE * tiles..]).filter(|(_, count)| **count > 0)
        });
        parts.flat_map(|(texels, _)| texels).sum()
    }

    /// Volumes of all texels, in m³, row by row.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    fn tile(&self, texel: usize) -> usize {
        let (row, column) = (texel / self.width, texel % self.width);
        row / TILE * self.width.div_ceil(TILE) + column / TILE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_film_is_found_and_taken_film_is_gone() {
        let mut film = FilmMap::new(37, 50);
        for texel in (0..37 * 50).step_by(7) {
            film.add(texel, 1e-12);
            film.add(texel, 2e-12);
        }
        assert!((film.total() / (3e-12 * 265.0) - 1.0).abs() < 1e-12, "{:e}", film.total());
        assert_eq!(film.at(3), 0.0);
        for texel in 0..37 * 50 {
            let taken = film.take(texel);
            assert_eq!(taken > 0.0, texel % 7 == 0, "texel {texel}: {taken:e}");
            assert_eq!(film.take(texel), 0.0);
        }
        assert!(film.is_empty() && film.total() == 0.0 && film.in_tile.iter().all(|&count| count == 0));
    }

    #[test]
    fn thinning_takes_no_more_than_there_is() {
        let mut film = FilmMap::new(37, 5);
        film.add(3, 1e-12);
        film.add(100, 5e-12);
        assert!((film.thin(2e-12) / 3e-12 - 1.0).abs() < 1e-12);
        assert_eq!(film.at(3), 0.0);
        assert!((film.total() / 3e-12 - 1.0).abs() < 1e-12);
        assert!((film.thin(1.0) / 3e-12 - 1.0).abs() < 1e-12 && film.is_empty());
    }
}
