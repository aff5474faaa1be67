export { createState } from './create-state.ts';
export { findByKey, type KeyedRendition } from './find-by-key.ts';
export { ItemTooLarge } from './item.ts';
export { keyOf, linkId, renditionId, resourceId } from './keys.ts';
export type {
  AudioTraits,
  Delivery,
  Fragment,
  Link,
  PlaylistEntry,
  PlaylistLink,
  PromisedConversions,
  Rendition,
  Resource,
  ResourceOrigin,
  Track,
  VideoTraits,
} from './resource.ts';
export type { State, StreamTaskLease, ToolsRecord } from './state.ts';
export type { StateStorage } from './storage.ts';
