export { createStoredBlocks } from './stored-blocks.ts';
export {
  centralDirectory,
  dataDescriptor,
  localHeader,
  type WrittenZipEntry,
  type ZipEntry,
  zipBytes,
} from './zip-records.ts';
