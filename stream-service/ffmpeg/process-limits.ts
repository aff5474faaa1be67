/**
 * The largest single allocation: above a plane of 7680 × 4320 at 10 bits. Decoders refuse larger frames before they
 * decode them.
 */
const MAX_ALLOCATION_BYTES = 128 * 1024 * 1024;

/**
 * Pixels of a picture: 8192 × 4352, the coded size of the largest video there is. The limit on allocations passes a square
 * picture of 67 million pixels, of which a decoder takes 350 MB to find out what a segment contains.
 */
const MAX_PIXELS = 8192 * 4352;

/** Options of FFmpeg itself, which limit it on every system. */
export const LIMIT_OPTIONS: readonly string[] = ['-max_alloc', String(MAX_ALLOCATION_BYTES)];
/** The same for one input, to be placed before its `-i`. */
export const INPUT_LIMIT_OPTIONS: readonly string[] = ['-max_pixels', String(MAX_PIXELS)];
