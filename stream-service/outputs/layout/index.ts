export { createLayoutCaches } from './layout-caches.ts';
export { type LayoutDependencies, openLayout } from './open.ts';
export {
  type LayoutPlan,
  NoSuchFile,
  type PresentationFile,
  planAudioAlone,
  planClip,
  planExtended,
  planFromKeyframe,
  planPair,
  planPresentation,
} from './plan.ts';
