export { ByteReader, type ByteSource, type ByteStream } from './byte-reader.ts';
export type { FragmentStore } from './file-fragments.ts';
export { HEADER_RANGE, MAX_MOOV_BYTES, readFileHeaders } from './file-headers.ts';
export { FillingBuffer } from './filling-buffer.ts';
export { findFirstRead } from './layout-bytes.ts';
export { readMovieFragments } from './movie-fragments.ts';
export { type FragmentReader, type FragmentSource, fragmentsOf, type ListReader } from './subsegments.ts';
export {
  clip,
  createVirtualFile,
  join,
  type Source,
  urlSource,
  type VirtualFile,
} from './virtual-file.ts';
