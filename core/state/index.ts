export { createState, ItemTooLarge } from './create-state.ts';
export {
  archiveKey,
  createKeyLookup,
  findByKey,
  findRendition,
  hasKey,
  type KeyedRendition,
  type KeyedSubtitle,
  type KeyLookup,
  keyedRendition,
  keyOf,
  linkId,
  pageKey,
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
  UnavailableEntry,
  VideoTraits,
} from './resource.ts';
export { chooseSubtitle } from './resource.ts';
export {
  type ArchiveProgress,
  MAX_ATTACHMENT_BYTES,
  NO_PROGRESS,
  PROGRESS_TTL_SECONDS,
  type State,
  type ToolsRecord,
} from './state.ts';
export type { StateStorage } from './storage.ts';
export {
  capabilitiesOf,
  deliveries,
  findDelivery,
} from './track.ts';
