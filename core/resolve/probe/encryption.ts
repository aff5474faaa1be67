import { hasEncryptedSampleEntry } from '../../media/isobmff/index.ts';
import type { Block } from './guarded-reader.ts';

/**
 * Whether the blocks read so far contain an encrypted MP4 sample entry. Reading the blocks themselves does not depend on
 * the container reader, which may fail on encrypted files.
 */
export const isEncrypted = (blocks: readonly Block[]): boolean =>
  blocks.some(({ bytes }) => hasEncryptedSampleEntry(bytes));
