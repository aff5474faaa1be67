export { ID3_HEADER_BYTES, id3Tag, id3TagBytes, isId3Tag, type TagText } from './id3-tag.ts';
