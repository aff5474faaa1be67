import type { Block } from './guarded-reader.ts';

/**
 * A table of sample descriptions whose first entry stands for an encrypted one (ISO/IEC 14496-12 §8.5.2, §8.12): no
 * other order of these bytes comes up by chance, and readers of containers may stumble over what encryption brings.
 */
const ENCRYPTED_ENTRY = /stsd\0{7}.{5}enc[va]/s;

/** Whether an MP4 says that nobody plays it without a licence, as far as it has been read. */
export const isEncrypted = (blocks: readonly Block[]): boolean =>
  blocks.some(({ bytes }) => ENCRYPTED_ENTRY.test(bytes.toString('latin1')));
