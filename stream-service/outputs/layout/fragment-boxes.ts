/** A larger `moof` is refused: it is read into memory. */
export const MAX_MOOF_BYTES = 4 * 1024 * 1024;
/** Boxes of media segments (ISO/IEC 14496-12 §8.16, ISO/IEC 23009-1). */
const FRAGMENT_BOXES = new Set(['styp', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid', 'moof', 'mdat']);
/** Indexes of the source, whose track ids and offsets are not those of the output. */
const INDEX_BOXES = new Set(['sidx', 'ssix']);

/** Whether a box may occur at the top level of a fragment. */
export const isFragmentBox = (type: string): boolean => FRAGMENT_BOXES.has(type);

/** Whether a box of a fragment has to be hidden from players. */
export const isIndexBox = (type: string): boolean => INDEX_BOXES.has(type);
