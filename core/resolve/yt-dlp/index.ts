export { type Info, infoList, isList, isResolvedEntry, text, webUrl } from '../../parsing/index.ts';
export { isPermanent, permanentReason, toError } from './failures.ts';
export { createImpersonation } from './impersonation.ts';
export {
  type Identity,
  identify,
  readAlbum,
  readDetails,
  readMetadata,
  readSubtitleTracks,
} from './metadata.ts';
export { createOperatorCookies } from './operator-cookies.ts';
export { normalizeLink } from './requests.ts';
export { type Candidate, namesAudioDescription, readTracks } from './tracks.ts';
