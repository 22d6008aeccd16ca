//! Large pages for large arrays.
//!
//! A million droplets are accessed in random order, so the prefetcher cannot help, and with pages
//! of 4 kB nearly every access also misses the TLB. Linux provides pages of 2 MB on request, so
//! arrays of that size request them. Smaller arrays, and other systems, use the system's allocator
//! unchanged: for arrays that are allocated and freed often, large pages cost more than they gain.
//! Results do not depend on it; time does, by 3 to 10 % (docs/notes/2026-11-performance.md).

#![expect(unsafe_code, reason = "GlobalAlloc is an unsafe trait; this one adds madvise to the system's allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::copy_nonoverlapping;

/// Smallest allocation that requests large pages, in bytes.
const LARGE: usize = 64 << 20;
/// Page size, in bytes; `madvise` ranges are multiples of it.
const PAGE: usize = 4096;

/// The system's allocator with large pages for large arrays.
pub struct LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

// SAFETY: all memory is allocated and freed by `System` with the layout that the caller passes;
// `madvise` does not change its contents.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        with_large_pages(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        with_large_pages(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: allocated by `System` with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size < LARGE || size <= layout.size() {
            // SAFETY: allocated by `System` with this layout.
            return unsafe { System.realloc(memory, layout, size) };
        }
        // `System.realloc` would remap the small pages; copying moves the contents into large ones.
        // SAFETY: the caller guarantees that the size is valid for this alignment; the two blocks
        // do not overlap, and both have at least the old size.
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

/// Returns `memory` after requesting large pages for it if it is large.
fn with_large_pages(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        let skipped = memory.align_offset(PAGE);
        let length = (size - skipped) / PAGE * PAGE;
        // SAFETY: whole pages inside an allocation of ours; a failure leaves the memory unchanged.
        unsafe { libc::madvise(memory.add(skipped).cast(), length, libc::MADV_HUGEPAGE) };
    }
    memory
}
