export { readFileHeader, readNextFragmentBox, readTopLevelBox } from './box-reader.ts';
export { ByteReader, type ByteReaderOptions } from './byte-reader.ts';
export { muxNatively } from './native-muxer.ts';
export { parseMp4 } from './parse-mp4.ts';
