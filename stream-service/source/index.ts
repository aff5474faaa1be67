export type { WindowFacts } from './live-lists.ts';
export {
  createSourceOpeners,
  isHeldByMp4,
  isMp4File,
  needsRemux,
  type OpenSource,
  openTrack,
  type SizedFile,
  type SourceOpeners,
  versionOf,
} from './open-source.ts';
