export {
  cleanText,
  FULL_TAG_BYTES,
  fullId3Tag,
  ID3_HEADER_BYTES,
  id3Tag,
  id3TagBytes,
  isId3Tag,
  MAX_COVER_BYTES,
  MAX_LINK_CHARACTERS,
  type RecordingText,
  type TagText,
} from './id3-tag.ts';
