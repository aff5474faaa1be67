export { createExtractor, type Extraction, type Extractor, type ExtractRequest } from './extractor.ts';
export { isFinal } from './failures.ts';
export { renderFormatReference } from './format-fields.ts';
export { type Identity, identify, readAlbum, readDetails, readMetadata, readSubtitleTracks } from './metadata.ts';
export type { RankingFacts } from './tracks.ts';
export { type Candidate, readTracks } from './tracks.ts';
export {
  type Info,
  infoList,
  isList,
  isResolvedEntry,
  normalizeLink,
  positiveInteger,
  positiveNumber,
  text,
  webUrl,
  withoutAbsent,
} from './yt-dlp-info.ts';
