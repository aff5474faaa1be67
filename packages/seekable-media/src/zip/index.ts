export { createStoredBlocks, MAX_BLOCK_BYTES, STORED_BLOCK_BYTES, storedBytes } from './stored-blocks.ts';
export {
  centralDirectory,
  dataDescriptor,
  localHeader,
  type WrittenZipEntry,
  zipBytes,
} from './zip-records.ts';
