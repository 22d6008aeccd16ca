//! How much film lies on each texel of a solid's map, and where there is none at all.
//!
//! Every running droplet asks at every step whether film lies ahead, and mostly there is none: squares of texels that have none are known by their
//! count, which is a few thousand numbers rather than a million.

/// Side of a square, in texels.
const SQUARE: usize = 16;

/// Film by texel.
#[derive(Clone, Debug, Default)]
pub struct FilmMap {
    /// In m³, row by row.
    volumes: Vec<f64>,
    width: usize,
    /// Texels with film, all in all and in each square.
    num_texels: u32,
    in_square: Vec<u32>,
}

impl FilmMap {
    /// Without film.
    pub fn new(width: usize, height: usize) -> Self {
        let squares = width.div_ceil(SQUARE) * height.div_ceil(SQUARE);
        Self { volumes: vec![0.0; width * height], width, num_texels: 0, in_square: vec![0; squares] }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.num_texels == 0
    }

    /// Film on a texel, in m³.
    pub fn at(&self, texel: usize) -> f64 {
        if self.in_square[self.square(texel)] > 0 { self.volumes[texel] } else { 0.0 }
    }

    /// Lays film (in m³) on a texel.
    pub fn add(&mut self, texel: usize, volume: f64) {
        let square = self.square(texel);
        let was_bare = self.volumes[texel] == 0.0;
        self.volumes[texel] += volume;
        if was_bare && self.volumes[texel] != 0.0 {
            self.num_texels += 1;
            self.in_square[square] += 1;
        }
    }

    /// Takes up what lies on a texel, in m³.
    pub fn take(&mut self, texel: usize) -> f64 {
        let square = self.square(texel);
        if self.in_square[square] == 0 || self.volumes[texel] == 0.0 {
            return 0.0;
        }
        self.num_texels -= 1;
        self.in_square[square] -= 1;
        std::mem::take(&mut self.volumes[texel])
    }

    /// All film, in m³: texel by texel, but for the squares that have none.
    pub fn total(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let squares = self.width.div_ceil(SQUARE);
        let rows = self.volumes.chunks_exact(self.width).enumerate();
        let parts = rows.flat_map(|(row, texels)| {
            texels.chunks(SQUARE).zip(&self.in_square[row / SQUARE * squares..]).filter(|(_, count)| **count > 0)
        });
        parts.flat_map(|(texels, _)| texels).sum()
    }

    /// Takes up everything.
    pub fn clear(&mut self) {
        self.volumes.fill(0.0);
        self.in_square.fill(0);
        self.num_texels = 0;
    }

    /// Volumes of all texels, in m³, row by row.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    fn square(&self, texel: usize) -> usize {
        let (row, column) = (texel / self.width, texel % self.width);
        row / SQUARE * self.width.div_ceil(SQUARE) + column / SQUARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_laid_is_there_and_what_was_taken_is_not() {
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
        assert!(film.is_empty() && film.total() == 0.0 && film.in_square.iter().all(|&count| count == 0));
    }
}
