export { createLayoutCaches } from './layout-caches.ts';
export { type LayoutDependencies, type LayoutPlan, openLayout } from './open.ts';
export { nameClip, planFile } from './plan.ts';
export {
  FURTHER_WAIT_MS,
  isLadder,
  NoSuchFile,
  type PresentedHeight,
  planPresentation,
} from './presentation.ts';
