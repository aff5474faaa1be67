export {
  createLayoutCache,
  type KnownLayout,
  type LayoutCache,
  type LayoutRequest,
  type OpenFile,
} from './layout-cache.ts';
export { LayoutStream, type SizedFile } from './layout-stream.ts';
export { createLayouts, type Layouts } from './layouts.ts';
