export { availabilityDelayMs, MAX_AVAILABILITY_WAIT_MS, untilAvailable } from './availability.ts';
export { createState } from './create-state.ts';
export { capabilitiesOf, type Delivery, deliveries, findDelivery } from './delivery.ts';
export { ItemTooLarge } from './items.ts';
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
} from './keys.ts';
export type {
  ArchivedList,
  AudioTraits,
  Chapter,
  Details,
  Link,
  PlaylistEntry,
  PlaylistLink,
  PromisedConversions,
  Rendition,
  Resource,
  ResourceOrigin,
  SegmentOverrides,
  Subtitle,
  Thumbnail,
  Track,
  VideoTraits,
} from './resource.ts';
export { initializationVector, keyUrl, knownKey, segmentUrl } from './segment-overrides.ts';
export { MAX_ATTACHMENT_BYTES, type State, type StreamTaskLease, type ToolsRecord } from './state.ts';
export type { StateStorage } from './storage.ts';
