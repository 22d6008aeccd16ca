use super::*;

/// An encoded PNG.
fn png(size: [u32; 2], color: png::ColorType, depth: png::BitDepth, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![255, 0, 0, 0, 0, 255]);
    }
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(pixels).expect("pixels");
    writer.finish().expect("an end");
    bytes
}

/// Gray, 8 × 8, all pixels at 128: quantizers of 1, Huffman tables of one code each.
fn gray_jpeg() -> Vec<u8> {
    let mut bytes = vec![0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0];
    bytes.extend([1; 64]);
    bytes.extend([0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    for class in [0x00, 0x10] {
        bytes.extend([0xFF, 0xC4, 0, 20, class, 1]);
        bytes.extend([0; 15]);
        // One code, `0`: no difference (DC), end of block (AC).
        bytes.push(0);
    }
    bytes.extend([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0b0011_1111, 0xFF, 0xD9]);
    bytes
}

/// The same image with itself as a thumbnail.
fn with_thumbnail() -> Vec<u8> {
    let image = gray_jpeg();
    let length = (image.len() as u16 + 2).to_be_bytes();
    [&image[..2], &[0xFF, 0xE1], &length, &image, &image[2..]].concat()
}

#[test]
fn png_of_every_depth_has_the_same_gray() {
    use png::{BitDepth, ColorType};
    let white = |bytes: Vec<u8>| Image::decode(&bytes).expect("an image").gray();
    assert_eq!(white(png([2, 1], ColorType::Grayscale, BitDepth::One, &[0b0100_0000])), [0.0, 1.0]);
    assert_eq!(white(png([2, 1], ColorType::Grayscale, BitDepth::Eight, &[51, 255])), [0.2, 1.0]);
    assert_eq!(white(png([2, 1], ColorType::Grayscale, BitDepth::Sixteen, &[51, 51, 255, 255])), [0.2, 1.0]);
    assert_eq!(white(png([2, 1], ColorType::GrayscaleAlpha, BitDepth::Eight, &[51, 0, 255, 9])), [0.2, 1.0]);
    assert_eq!(white(png([1, 1], ColorType::Rgb, BitDepth::Eight, &[255, 0, 0])), [0.2126]);
    assert_eq!(white(png([1, 1], ColorType::Rgba, BitDepth::Eight, &[51, 51, 51, 0])), [0.2]);
}

#[test]
fn palette_becomes_colors() {
    let bytes = png([2, 1], png::ColorType::Indexed, png::BitDepth::Eight, &[1, 0]);
    let image = Image::decode(&bytes).expect("an image");
    assert_eq!(image.rgb_bytes(), [0, 0, 255, 255, 0, 0]);
    assert_eq!(image.rgb(), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
}

#[test]
fn gray_jpeg_is_read() {
    let image = Image::decode(&gray_jpeg()).expect("an image");
    assert_eq!((image.width(), image.height()), (8, 8));
    assert!(image.rgb_bytes().iter().all(|&value| value == 128), "{:?}", image.rgb_bytes());
}

#[test]
fn cut_files_are_refused_without_a_panic() {
    let png = png([40, 30], png::ColorType::Rgb, png::BitDepth::Eight, &[77; 3600]);
    for bytes in [png, gray_jpeg(), with_thumbnail()] {
        Image::decode(&bytes).unwrap_or_else(|error| panic!("the whole file: {error}"));
        // A PNG without its last chunk, of twelve bytes, still has all pixels.
        for length in 0..bytes.len() - 12 {
            assert!(Image::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
    }
    let jpeg = gray_jpeg();
    assert!(Image::decode(&jpeg[..jpeg.len() - 1]).is_err());
    assert!(matches!(Image::decode(b"GIF89a"), Err(ImageError::Format)));
    assert!(matches!(Image::decode(b""), Err(ImageError::Format)));
}

#[test]
fn huge_size_is_refused_before_decoding() {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 126_000, 126_000);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().expect("a header").write_chunk(png::chunk::IDAT, &[0; 8]).expect("a chunk");
    let error = Image::decode(&bytes).expect_err("too large");
    assert!(matches!(error, ImageError::TooLarge { width: 126_000, height: 126_000 }), "{error}");
}

#[test]
fn folder_is_not_an_image() {
    assert!(matches!(Image::read(Path::new(".")), Err(ImageError::File(_))));
}
