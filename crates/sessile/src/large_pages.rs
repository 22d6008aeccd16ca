//! Memory for large arrays in large pages.
//!
//! A million droplets are looked at in no order that memory knows, and with pages of 4 kB nearly every look also has to find out where the page lies. Linux gives pages
//! of 2 MB to whoever asks, and on many machines to nobody else; so arrays of the size of a million droplets ask. All else, and all on other systems, is left to the system's
//! allocator: for arrays that come and go, large pages cost more than they gain. Results do not depend on it; time does, by some hundredths (docs/performance.md).

#![expect(
    unsafe_code,
    reason = "an allocator cannot be written without; it adds advice to what the system's own returns"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::copy_nonoverlapping;

/// Bytes from which on an allocation asks for large pages.
const LARGE: usize = 64 << 20;
/// Bytes of a page; ranges of advice begin and end at multiples.
const PAGE: usize = 4096;

/// The system's allocator, with large pages for large arrays.
pub struct LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

// SAFETY: all memory comes from and goes back to `System`, with the layout that the caller gave; advice does not change what it holds.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: it came from `System`, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size < LARGE || size <= layout.size() {
            // SAFETY: it came from `System`, with this layout.
            return unsafe { System.realloc(memory, layout, size) };
        }
        // The system would move its small pages; what is copied comes to lie in large ones.
        // SAFETY: the caller promises a size that is valid with this alignment; the two do not overlap, and both have at least the old size.
        unsafe {
            let larger = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !larger.is_null() {
                copy_nonoverlapping(memory, larger, layout.size());
                System.dealloc(memory, layout);
            }
            larger
        }
    }
}

/// The same memory; if it is large, the system has been asked for large pages in it.
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        let skipped = memory.align_offset(PAGE);
        let length = (size - skipped) / PAGE * PAGE;
        // SAFETY: whole pages within an allocation of ours; without such pages, or on failure, all is as before.
        unsafe { libc::madvise(memory.add(skipped).cast(), length, libc::MADV_HUGEPAGE) };
    }
    memory
}
