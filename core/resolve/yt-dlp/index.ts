export { type Info, infoList, isList, isResolvedEntry, text, webUrl } from '../../parsing/index.ts';
export { isFinal } from './failures.ts';
export { type AskRequest, createForks, type Extraction, type Forks, type ForksOptions } from './forks.ts';
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
