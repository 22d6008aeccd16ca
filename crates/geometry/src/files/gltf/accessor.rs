//! Accessors: typed views of the buffers.

use std::borrow::Cow;

use glam::{DVec2, DVec3};

use super::super::error::{Location, ParseError, Problem, quote};
use super::document::{Document, SparsePart};
use super::out_of_range;

/// Reads the accessors of a document.
pub(super) struct Accessors<'a> {
    pub document: &'a Document,
    pub buffers: &'a [Cow<'a, [u8]>],
}

/// The elements of an accessor, checked to lie in their buffer.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    component: Component,
    normalized: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

impl Accessors<'_> {
    /// The components of all elements, one after another; sparse data is applied.
    pub fn numbers(&self, index: usize, shape: &str, num_components: usize) -> Result<Vec<f64>, ParseError> {
        let Some(accessor) = self.document.accessors.get(index) else {
            return Err(out_of_range("an animation".to_owned(), "accessor", index, self.document.accessors.len()));
        };
        if accessor.shape != shape || accessor.count > super::super::MAX_ELEMENTS {
            return Err(ParseError::unexpected(item(index), format!("type {shape}"), quote(accessor.shape.as_bytes())));
        }
        let mut numbers = vec![0.0; accessor.count * num_components];
        if let Some(view) = accessor.buffer_view {
            let own = (view, accessor.byte_offset, accessor.component_type);
            let elements = self.elements_of(index, own, (accessor.count, num_components), accessor.normalized)?;
            for (k, number) in numbers.iter_mut().enumerate() {
                *number = elements.number(k / num_components, k % num_components);
            }
        }
        if let Some(sparse) = &accessor.sparse {
            let part = |part: &SparsePart, of: u32, n: usize| {
                self.elements_of(
                    index,
                    (part.buffer_view, part.byte_offset, of),
                    (sparse.count, n),
                    accessor.normalized,
                )
            };
            let indices = part(&sparse.indices, sparse.indices.component_type.unwrap_or(5125), 1)?;
            let values = part(&sparse.values, accessor.component_type, num_components)?;
            for k in 0..sparse.count {
                let at = indices.number(k, 0) as usize;
                for (c, number) in numbers.iter_mut().skip(at * num_components).take(num_components).enumerate() {
                    *number = values.number(k, c);
                }
            }
        }
        match numbers.iter().find(|number| !number.is_finite()) {
            None => Ok(numbers),
            Some(&found) => {
                Err(ParseError::new(item(index), Problem::NonFinite { what: "a number".to_owned(), found }))
            }
        }
    }

    /// Vertex positions, in m.
    pub fn positions(&self, index: usize) -> Result<Vec<DVec3>, ParseError> {
        let elements = self.elements(index, "VEC3", 3)?;
        (0..elements.count)
            .map(|k| {
                let position = DVec3::from_array(std::array::from_fn(|axis| elements.number(k, axis)));
                finite(position.to_array(), "position", index, k).map(|()| position)
            })
            .collect()
    }

    /// Texture coordinates, v up, one for each of `num_vertices`.
    pub fn texture_coordinates(&self, index: usize, num_vertices: usize) -> Result<Vec<DVec2>, ParseError> {
        let elements = self.elements(index, "VEC2", 2)?;
        if elements.count < num_vertices {
            let expected = format!("{num_vertices} texture coordinates, one for each vertex");
            return Err(ParseError::unexpected(item(index), expected, format!("{}", elements.count)));
        }
        (0..num_vertices)
            .map(|k| {
                let uv = DVec2::new(elements.number(k, 0), 1.0 - elements.number(k, 1));
                finite(uv.to_array(), "texture coordinate", index, k).map(|()| uv)
            })
            .collect()
    }

    /// Vertex indices.
    pub fn indices(&self, index: usize) -> Result<Vec<u32>, ParseError> {
        let elements = self.elements(index, "SCALAR", 1)?;
        if !matches!(elements.component, Component::U8 | Component::U16 | Component::U32) {
            return Err(ParseError::unexpected(item(index), "unsigned integers as indices", "another component type"));
        }
        Ok((0..elements.count).map(|k| elements.number(k, 0) as u32).collect())
    }

    fn elements(&self, index: usize, shape: &str, num_components: usize) -> Result<Elements<'_>, ParseError> {
        let Some(accessor) = self.document.accessors.get(index) else {
            return Err(out_of_range("a primitive".to_owned(), "accessor", index, self.document.accessors.len()));
        };
        let unsupported = |what: &str| {
            let advice = "export the mesh without sparse data";
            ParseError::new(item(index), Problem::Unsupported { what: what.to_owned(), advice })
        };
        if accessor.sparse.is_some() {
            return Err(unsupported("a sparse accessor"));
        }
        if accessor.shape != shape {
            return Err(ParseError::unexpected(item(index), format!("type {shape}"), quote(accessor.shape.as_bytes())));
        }
        let view = accessor.buffer_view.ok_or_else(|| unsupported("an accessor without a buffer view"))?;
        let own = (view, accessor.byte_offset, accessor.component_type);
        self.elements_of(index, own, (accessor.count, num_components), accessor.normalized)
    }

    /// `count` elements of `num_components` each from an offset of a view, for accessor `index`.
    fn elements_of(
        &self,
        index: usize,
        (view_index, byte_offset, component_type): (usize, usize, u32),
        (count, num_components): (usize, usize),
        normalized: bool,
    ) -> Result<Elements<'_>, ParseError> {
        let component = match component_type {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            other => {
                let expected = "a component type of 5120 to 5123, 5125 or 5126";
                return Err(ParseError::unexpected(item(index), expected, format!("{other}")));
            }
        };
        let (view, stride) = self.view(view_index)?;
        let element = component.size() * num_components;
        let stride = stride.unwrap_or(element);
        if stride < element {
            let location = Location::Item(format!("bufferViews[{view_index}]"));
            return Err(ParseError::unexpected(
                location,
                format!("a stride of at least {element} bytes"),
                format!("{stride}"),
            ));
        }
        let needed = match count {
            0 => 0,
            count => byte_offset as u128 + (count as u128 - 1) * stride as u128 + element as u128,
        };
        if needed > view.len() as u128 {
            let what = format!("{count} elements of the accessor");
            return Err(ParseError::new(item(index), Problem::Truncated { what, needed, present: view.len() }));
        }
        let bytes = view.get(byte_offset..).unwrap_or_default();
        Ok(Elements { bytes, stride, count, component, normalized })
    }

    fn view(&self, index: usize) -> Result<(&[u8], Option<usize>), ParseError> {
        let location = || format!("bufferViews[{index}]");
        let views = &self.document.buffer_views;
        let Some(view) = views.get(index) else {
            return Err(out_of_range("an accessor".to_owned(), "bufferView", index, views.len()));
        };
        let Some(buffer) = self.buffers.get(view.buffer) else {
            return Err(out_of_range(location(), "buffer", view.buffer, self.buffers.len()));
        };
        let end = view.byte_offset.checked_add(view.byte_length);
        match end.and_then(|end| buffer.get(view.byte_offset..end)) {
            Some(bytes) => Ok((bytes, view.byte_stride)),
            None => {
                let needed = view.byte_offset as u128 + view.byte_length as u128;
                let problem = Problem::Truncated { what: "the view".to_owned(), needed, present: buffer.len() };
                Err(ParseError::new(Location::Item(location()), problem))
            }
        }
    }
}

impl Elements<'_> {
    /// Component `component` of element `k`; normalized integers are scaled to −1 … 1 or 0 … 1.
    fn number(&self, k: usize, component: usize) -> f64 {
        let at = k * self.stride + component * self.component.size();
        let raw = &self.bytes[at..at + self.component.size()];
        let (value, largest) = match (self.component, raw) {
            (Component::I8, &[a]) => (f64::from(a as i8), 127.0),
            (Component::U8, &[a]) => (f64::from(a), 255.0),
            (Component::I16, &[a, b]) => (f64::from(i16::from_le_bytes([a, b])), 32767.0),
            (Component::U16, &[a, b]) => (f64::from(u16::from_le_bytes([a, b])), 65535.0),
            (Component::U32, &[a, b, c, d]) => (f64::from(u32::from_le_bytes([a, b, c, d])), 4_294_967_295.0),
            (_, raw) => (raw.try_into().map_or(0.0, |raw| f64::from(f32::from_le_bytes(raw))), 1.0),
        };
        if self.normalized { (value / largest).max(-1.0) } else { value }
    }
}

fn item(index: usize) -> Location {
    Location::Item(format!("accessors[{index}]"))
}

fn finite<const N: usize>(values: [f64; N], what: &str, accessor: usize, element: usize) -> Result<(), ParseError> {
    match values.into_iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(found) => {
            let location = Location::Item(format!("accessors[{accessor}], element {element}"));
            Err(ParseError::new(location, Problem::NonFinite { what: what.to_owned(), found }))
        }
    }
}
