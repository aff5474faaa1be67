export { LayoutStream, type SizedFile } from './layout-stream.ts';
export { createLayouts, type KnownLayout, type Layouts } from './layouts.ts';
