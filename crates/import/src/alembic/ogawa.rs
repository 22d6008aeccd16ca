//! The Ogawa container of Alembic files: a tree of groups whose leaves are blocks of bytes.
//!
//! ```text
//! "Ogawa" | 0xff if closed properly | version, 2 bytes | offset of the root group, 8 bytes
//! group: number of children n, n × 8 bytes: offset of a child; the top bit marks a block of bytes
//! block: length, that many bytes
//! ```
//!
//! Numbers are little-endian; offset 0 stands for an empty group or block. Every offset and length
//! is checked before use.

/// What is wrong with a file, or what was read of it.
pub type Parsed<T> = Result<T, String>;

/// Marks a child that is a block of bytes.
const IS_DATA: u64 = 1 << 63;

/// An Ogawa file.
#[derive(Clone, Copy)]
pub struct Ogawa<'a> {
    bytes: &'a [u8],
}

/// A group: offset of its list of children, and their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    at: usize,
    len: usize,
}

impl<'a> Ogawa<'a> {
    /// Opens a file, and returns it with its root group.
    pub fn open(bytes: &'a [u8]) -> Parsed<(Self, Group)> {
        if bytes.starts_with(b"\x89HDF") {
            return Err(
                "this is an Alembic file of the older HDF5 kind; export it again as Ogawa, which programs have \
                        written since 2013"
                    .to_owned(),
            );
        }
        if !bytes.starts_with(b"Ogawa") {
            return Err("expected an Alembic file, which starts with `Ogawa`".to_owned());
        }
        let file = Self { bytes };
        if bytes.get(5) != Some(&0xff) {
            return Err("the file was not closed by the program that wrote it; export it again".to_owned());
        }
        let root = file.group_at(file.u64(8)?)?;
        Ok((file, root))
    }

    fn slice(&self, at: usize, length: usize) -> Parsed<&'a [u8]> {
        let end = at.checked_add(length).ok_or("an offset is too large")?;
        let found = || format!("expected {length} bytes at byte {at}, found the end of the file");
        self.bytes.get(at..end).ok_or_else(found)
    }

    fn u64(&self, at: usize) -> Parsed<u64> {
        self.slice(at, 8)?.try_into().map(u64::from_le_bytes).map_err(|_| "a number is truncated".to_owned())
    }

    fn group_at(&self, offset: u64) -> Parsed<Group> {
        if offset == 0 {
            return Ok(Group { at: 0, len: 0 });
        }
        let at = usize::try_from(offset).map_err(|_| "an offset is too large")?;
        let len = usize::try_from(self.u64(at)?).map_err(|_| "a group is too large")?;
        // All offsets of its children are in the file.
        self.slice(at + 8, len.checked_mul(8).ok_or("a group is too large")?)?;
        Ok(Group { at: at + 8, len })
    }

    fn child(&self, group: Group, index: usize) -> Parsed<u64> {
        if index >= group.len {
            return Err(format!("a group has {} parts, but part {index} is needed", group.len));
        }
        self.u64(group.at + 8 * index)
    }

    /// Whether a child is a block of bytes.
    pub fn is_data(&self, group: Group, index: usize) -> bool {
        self.child(group, index).is_ok_and(|offset| offset & IS_DATA != 0)
    }

    /// A child that is a group.
    pub fn group(&self, group: Group, index: usize) -> Parsed<Group> {
        match self.child(group, index)? {
            offset if offset & IS_DATA != 0 => Err("expected a group, found a block of bytes".to_owned()),
            offset => self.group_at(offset),
        }
    }

    /// A child that is a block of bytes.
    pub fn data(&self, group: Group, index: usize) -> Parsed<&'a [u8]> {
        let offset = self.child(group, index)?;
        if offset & IS_DATA == 0 {
            return Err("expected a block of bytes, found a group".to_owned());
        }
        let offset = offset & !IS_DATA;
        if offset == 0 {
            return Ok(&[]);
        }
        let at = usize::try_from(offset).map_err(|_| "an offset is too large")?;
        let length = usize::try_from(self.u64(at)?).map_err(|_| "a block is too large")?;
        self.slice(at + 8, length)
    }
}

impl Group {
    /// Number of children.
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Numbers and names one after another in a block.
pub struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or("a header is truncated")?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn text(&mut self, length: usize) -> Parsed<String> {
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// An integer of 1, 2 or 4 bytes.
    pub fn integer(&mut self, length: usize) -> Parsed<usize> {
        let mut padded = [0; 4];
        padded[..length].copy_from_slice(self.take(length)?);
        Ok(u32::from_le_bytes(padded) as usize)
    }

    pub fn f64(&mut self) -> Parsed<f64> {
        self.take(8)?.try_into().map(f64::from_le_bytes).map_err(|_| "a number is truncated".to_owned())
    }
}
