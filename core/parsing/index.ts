export type { ContainerRequest, ContainerResponse, Contents, FileBlock } from './container-reader.ts';
export {
  type ExtractedInfo,
  type Info,
  InvalidExtraction,
  infoList,
  isInfo,
  isList,
  isResolvedEntry,
  readExtraction,
  text,
  webUrl,
} from './extraction.ts';
export { closeParsing, type ParsingOptions, parse } from './parsing-pool.ts';
export {
  CONVERT_SUBTITLES,
  FIND_ENCRYPTED_ENTRY,
  PARSE_EXTRACTION,
  READ_CONTAINER,
  READ_CUES,
  READ_SEGMENTS,
  SCAN_HLS_PLAYLIST,
} from './tasks.ts';
