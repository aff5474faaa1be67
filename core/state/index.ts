export { type ArchiveProgress, NO_PROGRESS, PROGRESS_TTL_SECONDS } from './archive-progress.ts';
export { chooseSubtitle } from './choose-subtitle.ts';
export { createState, ItemTooLarge } from './create-state.ts';
export {
  archiveKey,
  createKeyLookup,
  findByKey,
  hasKey,
  type KeyedRendition,
  type KeyedSubtitle,
  type KeyLookup,
  keyedRendition,
  keyOf,
  linkId,
  renditionId,
  resourceId,
  subtitleId,
  videoOfPair,
  youtubeIdOf,
} from './keys.ts';
export type {
  ArchivedList,
  AudioTraits,
  AudioVersion,
  Chapter,
  Delivery,
  Details,
  Flaw,
  Link,
  PlaylistEntry,
  PlaylistLink,
  PromisedConversions,
  Rendition,
  Resource,
  ResourceOrigin,
  StalledLink,
  Subtitle,
  Thumbnail,
  Track,
  TrackWindow,
  VideoTraits,
} from './resource.ts';
export {
  MAX_ATTACHMENT_BYTES,
  type State,
  type ToolsRecord,
} from './state.ts';
export type { StateStorage } from './storage.ts';
export {
  capabilitiesOf,
  deliveries,
  findDelivery,
} from './track.ts';
