export {
  checkedPage,
  HEADER_BYTES as OGG_PAGE_BYTES,
  hasRoom,
  oggHeaderBytes,
  oggHeaderPages,
  oggPageHeader,
  packetSegments,
} from './ogg-pages.ts';
export { readOggStreams } from './ogg-streams.ts';
export {
  OPUS_SAMPLE_RATE,
  opusHead,
  opusTags,
  paddedBytes,
  preSkipOf,
  vorbisCommentList,
  vorbisComments,
} from './opus-headers.ts';
