export type { WindowFacts } from './live-lists.ts';
export {
  createSourceOpeners,
  isMp4File,
  needsRemux,
  type OpenSource,
  openTrack,
  type SourceOpeners,
} from './open-source.ts';
