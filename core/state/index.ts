export { type ArchiveProgress, PROGRESS_TTL_SECONDS } from './archive-progress.ts';
export { createState, ItemTooLarge } from './create-state.ts';
export {
  archiveKey,
  createKeyLookup,
  findByKey,
  findSubtitleByKey,
  hasKey,
  type KeyedRendition,
  type KeyedSubtitle,
  type KeyLookup,
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
  PictureGrid,
  PlaylistEntry,
  PlaylistLink,
  PromisedConversions,
  Rendition,
  Resource,
  ResourceOrigin,
  SegmentOverrides,
  StalledLink,
  Storyboard,
  Subtitle,
  Thumbnail,
  Track,
  TrackWindow,
  VideoTraits,
} from './resource.ts';
export {
  MAX_ATTACHMENT_BYTES,
  type State,
  type StreamTaskLease,
  type ToolsRecord,
} from './state.ts';
export type { StateStorage } from './storage.ts';
export { keyframeTrack, mayHaveStoryboard, partOf, siteStoryboard } from './storyboard.ts';
export {
  availabilityDelayMs,
  capabilitiesOf,
  deliveries,
  findDelivery,
  initializationVector,
  keyUrl,
  knownKey,
  MAX_AVAILABILITY_WAIT_MS,
  segmentUrl,
  untilAvailable,
} from './track.ts';
