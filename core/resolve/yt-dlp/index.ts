export { type Info, infoList, isList, isResolvedEntry, text, webUrl } from '../../parsing/index.ts';
export { createExtractor, type Extraction, type Extractor, type ExtractRequest } from './extractor.ts';
export { isFinal } from './failures.ts';
export { renderFormatReference } from './format-fields.ts';
export {
  type Identity,
  identify,
  readAlbum,
  readDetails,
  readMetadata,
  readSubtitleTracks,
} from './metadata.ts';
export { normalizeLink } from './requests.ts';
export { type Candidate, namesAudioDescription, readTracks } from './tracks.ts';
