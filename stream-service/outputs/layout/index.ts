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
  STORYBOARD_NAME,
} from './plan.ts';
export { type OpenFile, readHeaders } from './read-layout.ts';
export { readMovieFragments } from './read-movie-fragments.ts';
