export { TAR_END_BYTES, type TarEntry, tarHeader, tarPaddingBytes } from './tar-records.ts';
