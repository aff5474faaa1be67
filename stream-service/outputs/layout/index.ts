export { createLayoutCaches } from './layout-caches.ts';
export { type LayoutDependencies, type LayoutPlan, openLayout } from './open.ts';
export { planFile } from './plan.ts';
export {
  FURTHER_WAIT_MS,
  isLadder,
  NoSuchFile,
  type PresentationPlan,
  planPresentation,
} from './presentation.ts';
